package import AlertRules
package import Audit
package import Foundation
package import Postgres
package import PushContract

/// A marked alert through every receiver, to verify that notifications reach on-call.
///
/// It has an alert, transitions and notifications, which the notifier of a running service delivers as those of every alert; only the
/// evaluator and the routes are skipped.
package enum TestNotification {
    package static let rule = "PushwatchTestNotification"

    /// One message to one receiver.
    package struct TestNotificationResult: Sendable, Hashable, Encodable {
        package var receiver: String
        package var kind: String
        /// pending, delivered, deadLettered, superseded or undelivered.
        package var state: String
        package var attempts: Int
        /// From the transition to the end of the receiver's answer.
        package var latencyMs: Int?
        package var error: String?

        package var isSettled: Bool { state != "pending" }
    }

    /// Writes the alert for `receivers`, with an entry in the audit. What an earlier test left open is resolved first.
    package static func fire(
        receivers: [String],
        severity: Severity,
        recording audit: AuditRecorder,
        on pool: PostgresPool
    ) async throws -> UUID {
        // Due at once, also where the clock of the machine that sends it is ahead.
        let now = min(audit.now, try await DatabaseClock.read(on: pool))
        let alert = alert(severity: severity, author: audit.actor.name, now: now)
        try await pool.withTransaction { transaction in
            let writer = AlertWriter(transaction: transaction, lease: lease, now: now)
            for left in try await AlertStore.open(rule: rule, on: transaction) {
                try await writer.resolve(ended(left, now), minute: Minute(now))
            }
            try await writer.fire(alert, reason: .conditionMet, minute: Minute(now), receivers: receivers)
            try await audit.note(.testReceivers, receivers.joined(separator: ", "), severity.rawValue, on: transaction)
        }
        return alert.id
    }

    /// Resolves it: every receiver is notified.
    package static func resolve(_ id: UUID, at time: Timestamp, on pool: PostgresPool) async throws {
        let now = min(time, try await DatabaseClock.read(on: pool))
        try await pool.withTransaction { transaction in
            guard let alert = try await AlertStore.alert(id, on: transaction), alert.state == .firing else { return }
            try await AlertWriter(transaction: transaction, lease: lease, now: now).resolve(ended(alert, now), minute: Minute(now))
        }
    }

    /// The state of each notification.
    package static func results(of id: UUID, on session: any PostgresSession) async throws -> [TestNotificationResult] {
        try await session.query(
            """
            SELECT receiver, kind, state, attempts::bigint, (extract(epoch FROM settledAt - createdAt) * 1000)::bigint, lastError
            FROM notifications WHERE alertId = \(id) ORDER BY receiver, seq
            """
        ).map {
            let (receiver, kind, state, attempts, latency, error) = try $0.decode((String, String, String, Int, Int?, String?).self)
            return TestNotificationResult(
                receiver: receiver,
                kind: kind,
                state: state,
                attempts: attempts,
                latencyMs: latency,
                error: error
            )
        }
    }

    /// Whether a running service delivers notifications.
    package static func isDelivering(on session: any PostgresSession) async throws -> Bool {
        try await session.query(
            "SELECT EXISTS (SELECT FROM alertLeases WHERE name = \(Notifier.leaseName) AND expiresAt > clock_timestamp())"
        )[0].decode(Bool.self)
    }

    /// Withdraws what was not delivered in time: a notification that arrives after the test would only confuse people. Receivers that may
    /// have been notified of the alert are still notified of its end.
    package static func withdraw(_ id: UUID, at now: Timestamp, on session: any PostgresSession) async throws {
        try await session.execute(
            """
            UPDATE notifications n SET state = 'superseded', settledAt = \(now)
            WHERE alertId = \(id) AND state = 'pending' AND coalesce(leaseUntil < clock_timestamp(), true)
                AND (kind <> 'resolved' OR NOT EXISTS (SELECT FROM notifications f
                    WHERE f.alertId = n.alertId AND f.receiver = n.receiver AND f.kind IN ('firing', 'reopened')
                        AND (f.state = 'delivered' OR f.state = 'pending' AND NOT (\(NotificationStore.isUnsent)))))
            """
        )
    }

    /// Receivers with notifications since then.
    package static func receivers(notifiedSince: Timestamp, on session: any PostgresSession) async throws -> [String] {
        try await session.query("SELECT DISTINCT receiver FROM notifications WHERE createdAt >= \(notifiedSince) ORDER BY receiver")
            .map { try $0.decode(String.self) }
    }

    /// In place of an evaluator's lease.
    private static let lease = AlertLease(name: "testNotification", holder: "testNotification", epoch: 0)

    private static func ended(_ alert: Alert, _ now: Timestamp) -> Alert {
        var alert = alert
        alert.state = .resolved
        alert.endsAt = now
        alert.resolvedAt = now
        alert.resolvedReason = "test_over"
        return alert
    }

    private static func alert(severity: Severity, author: String, now: Timestamp) -> Alert {
        let window = WindowCounts(first: Minute(now) - 15, minutes: 15, counts: AttemptCounts(attempts: 0, bad: 0))
        return Alert(
            id: UUID(),
            rule: rule,
            ruleVersion: "test",
            group: GroupKey(),
            labels: ["alertname": rule, "severity": severity.rawValue, "test_notification": "true"],
            severity: severity,
            state: .firing,
            startsAt: now,
            firedAt: now,
            detectedLateBySeconds: 0,
            evidence: Evidence(definition: "test", level: .threshold, threshold: Fraction(5, 100), observed: window, worst: window),
            contributors: [],
            reproduceSQL: "SELECT 'a test notification has no numbers' AS note;",
            annotations: [
                "summary": "TEST: nothing is wrong; \(author) tests the way alerts take",
                "meaning": "If you can read this, alerts reach you here.",
                "action": "Nothing. It ends by itself.",
            ],
            revised: false
        )
    }
}
