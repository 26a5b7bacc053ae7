import Delivery
import Postgres
import PushContract

/// Writes what became of starts: on the activity, and in the list that a device's budget is counted from.
struct StartOutcomes {
    private var keys = KeyColumns()
    private var deliveryIds: [Int64] = []
    /// Numbers of attempts; 0 where there was none.
    private var attempts: [Int32] = []
    /// Nil while it is still in the queue.
    private var records: [String?] = []
    private var nexts: [String?] = []
    /// What may have reached the device; 0 and nil: nothing.
    private var stamps: [Int64] = []
    private var hashes: [String?] = []
    /// Of accepted starts alone: an activity that listens is there with its start, for no token reports it.
    private var channelIds: [String?] = []
    private let now: Timestamp

    init(_ outcomes: [QueuedOutcome], now: Timestamp) {
        self.now = now
        for outcome in outcomes {
            let decision = StartDecision.after(outcome.attempt, outcome.next)
            let arrived = decision?.record == .accepted || decision?.record == .unknown
            let note = outcome.note as? LiveStart.Note
            keys.append(ActivityKey(outcome.delivery))
            deliveryIds.append(outcome.delivery.deliveryId)
            attempts.append(outcome.attempt == nil ? 0 : Int32(outcome.delivery.attemptNumber))
            records.append(decision?.record.rawValue)
            nexts.append(decision?.next.rawValue)
            stamps.append(arrived ? note?.timestamp ?? 0 : 0)
            hashes.append(arrived ? note?.stateHash : nil)
            channelIds.append(decision?.record == .accepted ? note?.channelId : nil)
        }
    }

    func write(_ policy: StartPolicy, _ channels: ChannelPolicy, on connection: BlockingConnection) throws {
        let hasListeners = channelIds.contains { $0 != nil }
        if hasListeners { try ActivityEnds.end(replaced, reason: .rolledOver, on: connection, now: now) }
        try connection.execute(activities(policy))
        try connection.execute(
            """
            UPDATE activityStarts s SET outcome = o.record, byChannel = o.channelId IS NOT NULL
            FROM unnest(\(deliveryIds), \(records), \(channelIds)) AS o(deliveryId, record, channelId)
            WHERE s.deliveryId = o.deliveryId AND o.record IS NOT NULL
            """
        )
        if hasListeners { try connection.execute(catchUps(after: channels.catchUp)) }
    }

    /// Activities whose next instance listens to a channel, and so is there now.
    private var replaced: Query {
        """
        (matchId, userId, deviceId, instance) IN (
            SELECT p.matchId, p.userId, p.deviceId, p.instance
            FROM unnest(\(keys.columns), \(channelIds)) AS o(subject, userId, deviceId, instance, channelId)
            JOIN liveActivities a ON \(KeyColumns.match)
            JOIN liveActivities p ON p.matchId = a.matchId AND p.userId = a.userId AND p.deviceId = a.deviceId AND p.instance < a.instance
            WHERE o.channelId IS NOT NULL AND a.status = 'pending' AND p.status = 'active')
        """
    }

    /// The token may have come while the start's answer was on its way: then only what was sent is noted.
    private func activities(_ policy: StartPolicy) -> Query {
        """
        UPDATE liveActivities a SET startAttempts = greatest(a.startAttempts, o.attempts),
            startsDelivered = a.startsDelivered + (coalesce(o.record, '') IN ('accepted', 'unknown'))::integer,
            startAcceptedAt = CASE WHEN o.record = 'accepted' THEN \(now) ELSE a.startAcceptedAt END,
            nextStartAt = CASE WHEN a.status <> 'pending' OR o.channelId IS NOT NULL THEN NULL
                WHEN o.next = 'now' THEN greatest(\(now), \(StartQueries.startsHereUntil(policy)))
                WHEN o.next = 'afterGrace' AND a.startsDelivered + 1 < \(policy.deliveredLimit) THEN \(now + policy.grace) END,
            status = CASE WHEN a.status = 'pending' AND o.channelId IS NOT NULL THEN 'active' ELSE a.status END,
            activatedAt = coalesce(a.activatedAt, CASE WHEN a.status = 'pending' AND o.channelId IS NOT NULL THEN \(now)::timestamptz END),
            channelId = coalesce(o.channelId, a.channelId),
            lastTimestampSent = greatest(a.lastTimestampSent, o.stamp),
            lastStateHash = CASE WHEN o.stamp > a.lastTimestampSent THEN o.hash ELSE a.lastStateHash END
        FROM unnest(\(keys.columns), \(attempts), \(records), \(nexts), \(stamps), \(hashes), \(channelIds))
            AS o(subject, userId, deviceId, instance, attempts, record, next, stamp, hash, channelId)
        WHERE \(KeyColumns.match)
        """
    }

    /// A state that was sent while a start was on its way may have missed the phone, which listens from its start on.
    private func catchUps(after wait: Duration) -> Query {
        """
        UPDATE activityChannels c SET catchUpAt = coalesce(c.catchUpAt, \(now + wait))
        FROM unnest(\(keys.columns), \(stamps), \(channelIds)) AS o(subject, userId, deviceId, instance, stamp, channelId)
        JOIN liveSubjects m ON m.subject = o.subject
        WHERE c.matchId = o.subject AND c.channelId = o.channelId AND m.stateTimestamp > o.stamp
        """
    }
}
