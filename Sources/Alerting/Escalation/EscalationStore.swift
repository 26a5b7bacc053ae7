import AlertRules
package import Foundation
package import Postgres
package import PushContract

/// A step of escalation that was taken.
package struct EscalationRecord: Sendable, Hashable {
    package var at: Timestamp
    /// `step 1: no receiver accepted it in time`
    package var text: String
    package var receivers: [String]
}

/// The state of escalation of each alert.
package enum EscalationStore {
    /// The firing pages that are not acknowledged, neither silenced nor suppressed.
    ///
    /// - Parameter people: the receivers that notify people.
    static func waiting(people: [String], steps: Int, on session: any PostgresSession) async throws -> [(id: UUID, state: EscalationState)]
    {
        try await read("e.escalationStep < \(Int32(steps))", people: people, session)
    }

    /// The next step of an alert and when it is taken; nil when there is none.
    package static func nextStep(
        of id: UUID,
        _ receivers: ReceiverSet,
        on session: any PostgresSession
    ) async throws -> (at: Timestamp, escalation: EscalationPolicy.Escalation)? {
        guard let policy = receivers.escalation else { return nil }
        return try await state(of: id, people: receivers.people.sorted(), on: session).flatMap {
            policy.nextStep(after: $0, people: receivers.people)
        }
    }

    /// Of one alert; nil when nobody needs to be notified of it any more.
    static func state(of id: UUID, people: [String], on session: any PostgresSession) async throws -> EscalationState? {
        try await read("e.alertId = \(id)", people: people, session).first?.state
    }

    /// Records a step and queues its notifications. The alert's row must be locked.
    static func escalate(
        _ id: UUID,
        _ escalation: EscalationPolicy.Escalation,
        lease: AlertLease,
        at now: Timestamp,
        in transaction: any PostgresSession
    ) async throws {
        let seq = try await AlertStore.nextSeq(id, in: transaction)
        let text = "step \(escalation.step): \(escalation.reason.text)"
        try await transaction.execute(
            """
            INSERT INTO alertTransitions (alertId, seq, kind, reason, minute, evidence, annotations, epoch, recordedAt)
            SELECT alertId, \(seq), 'escalated', \(escalation.reason.rawValue), \(now.flooredToMinute()), evidence,
                   annotations || jsonb_build_object('escalation', \(text)::text), \(lease.epoch), \(now)
            FROM alerts WHERE alertId = \(id)
            """
        )
        // The first notification of each of them is that the alert fires. A receiver has one of this kind; of a reopened alert it gets a
        // second one of another kind.
        try await transaction.execute(
            """
            INSERT INTO notifications (alertId, receiver, seq, kind, state, nextAttemptAt, createdAt)
            SELECT \(id), receiver, \(seq),
                   CASE WHEN EXISTS (SELECT FROM notifications o WHERE o.alertId = \(id) AND o.receiver = r.receiver AND o.kind = 'firing')
                        THEN 'reopened' ELSE 'firing' END,
                   'pending', \(now), \(now)
            FROM unnest(\(escalation.receivers)) AS r (receiver)
            ON CONFLICT DO NOTHING
            """
        )
        try await transaction.execute(
            """
            UPDATE alerts SET escalationStep = \(Int32(escalation.step)), escalationSince = \(now), updatedAt = \(now)
            WHERE alertId = \(id)
            """
        )
    }

    /// The steps that were taken, the oldest first.
    package static func history(of id: UUID, on session: any PostgresSession) async throws -> [EscalationRecord] {
        try await session.query(
            """
            SELECT recordedAt, annotations->>'escalation', ARRAY(
                SELECT receiver FROM notifications WHERE notifications.alertId = t.alertId AND notifications.seq = t.seq ORDER BY receiver)
            FROM alertTransitions t WHERE alertId = \(id) AND kind = 'escalated' ORDER BY seq
            """
        ).map {
            let (at, text, receivers) = try $0.decode((Timestamp, String, [String]).self)
            return EscalationRecord(at: at, text: text, receivers: receivers)
        }
    }

    private static func read(
        _ condition: Query,
        people: [String],
        _ session: any PostgresSession
    ) async throws -> [(id: UUID, state: EscalationState)] {
        try await session.query(
            """
            SELECT e.alertId, e.escalationStep::bigint, e.escalationSince,
                   EXISTS (SELECT FROM notifications o
                           WHERE o.alertId = e.alertId AND o.kind IN ('firing', 'reopened') AND o.state = 'delivered'
                             AND o.receiver = ANY(\(people))
                             -- The notifier's reading of the clock may be some milliseconds older than the evaluator's.
                             AND greatest(o.createdAt, o.settledAt) >= e.escalationSince),
                   ARRAY(SELECT receiver FROM notifications o WHERE o.alertId = e.alertId AND o.kind = 'firing'),
                   -- The notification that an alert was reopened is no page.
                   ARRAY(SELECT o.receiver FROM notifications o JOIN alertTransitions t USING (alertId, seq)
                         WHERE o.alertId = e.alertId AND o.kind IN ('firing', 'reopened') AND t.kind <> 'reopened'
                           AND (o.state = 'pending' OR o.createdAt >= coalesce(
                               (SELECT max(recordedAt) FROM alertTransitions r WHERE r.alertId = e.alertId AND r.kind = 'reopened'),
                               '-infinity')))
            FROM alerts e
            WHERE e.state = 'firing' AND e.severity IN ('critical', 'page') AND e.acknowledgedAt IS NULL AND e.silencedBy IS NULL
              AND e.suppressedBy IS NULL AND e.rule <> \(TestNotification.rule) AND \(condition)
            ORDER BY e.firedAt, e.alertId
            """
        ).map {
            let (id, step, since, isConfirmed, notified, paged) = try $0.decode((UUID, Int, Timestamp, Bool, [String], [String]).self)
            let state = EscalationState(step: step, since: since, isConfirmed: isConfirmed, notified: Set(notified), paged: Set(paged))
            return (id, state)
        }
    }
}
