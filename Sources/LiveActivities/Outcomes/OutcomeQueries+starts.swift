import Delivery
import Postgres
import PushContract

extension OutcomeQueries {
    /// What became of starts: on the activity, and in the list a device's budget is counted from.
    static func started(_ outcomes: [LiveOutcome], on connection: BlockingConnection) throws {
        var columns = StartColumns()
        for outcome in outcomes {
            guard case .started(let claim, let decision, let stamp, let hash, let channelId) = outcome.effect else { continue }
            columns.append(outcome, claim, decision, stamp, hash, channelId)
        }
        guard !columns.isEmpty else { return }
        if columns.hasListeners { try connection.execute(columns.replaced) }
        try connection.execute(columns.activities)
        try connection.execute(columns.starts)
    }
}

/// Outcomes of starts as columns.
private struct StartColumns {
    private var keys = KeyColumns()
    private var startIds: [Int64] = []
    private var records: [String] = []
    private var nexts: [Timestamp?] = []
    private var acceptedAts: [Timestamp?] = []
    private var stamps: [Int64] = []
    private var hashes: [String] = []
    private var moments: [Timestamp] = []
    /// Of accepted starts alone: an activity that listens is there with its start, for no token reports it.
    private var channelIds: [String?] = []

    var isEmpty: Bool { startIds.isEmpty }
    var hasListeners: Bool { channelIds.contains { $0 != nil } }

    mutating func append(
        _ outcome: LiveOutcome,
        _ claim: StartClaim,
        _ decision: StartDecision,
        _ stamp: Int64,
        _ hash: String,
        _ channelId: String?
    ) {
        keys.append(outcome.key)
        startIds.append(claim.startId)
        records.append(decision.record.rawValue)
        nexts.append(decision.nextStartAt)
        acceptedAts.append(decision.record == .accepted ? outcome.at : nil)
        stamps.append(decision.record == .rejected ? 0 : stamp)
        hashes.append(hash)
        moments.append(outcome.at)
        channelIds.append(decision.record == .accepted ? channelId : nil)
    }

    /// Activities whose next instance listens to a channel, and so is there now.
    var replaced: Query {
        """
        UPDATE liveActivities a SET status = 'ended', endReason = \(EndReason.rolledOver.rawValue), endedAt = o.at, nextStartAt = NULL,
            endDueAt = CASE WHEN a.updateToken IS NOT NULL THEN o.at END
        FROM unnest(\(keys.columns), \(channelIds), \(moments)) AS o(subject, userId, deviceId, instance, channelId, at)
        WHERE a.matchId = o.subject AND a.userId = o.userId AND a.deviceId = o.deviceId AND a.instance < o.instance
          AND a.status = 'active' AND o.channelId IS NOT NULL
          AND EXISTS (SELECT FROM liveActivities n WHERE n.matchId = o.subject AND n.userId = o.userId AND n.deviceId = o.deviceId
              AND n.instance = o.instance AND n.status = 'pending')
        """
    }

    /// The token may have come while the start's answer was on its way: then only what was sent is noted.
    var activities: Query {
        """
        UPDATE liveActivities a SET startAcceptedAt = coalesce(o.acceptedAt, a.startAcceptedAt),
            nextStartAt = CASE WHEN a.status = 'pending' AND o.channelId IS NULL THEN o.nextStartAt END,
            status = CASE WHEN a.status = 'pending' AND o.channelId IS NOT NULL THEN 'active' ELSE a.status END,
            activatedAt = coalesce(a.activatedAt, CASE WHEN a.status = 'pending' AND o.channelId IS NOT NULL THEN o.at END),
            channelId = coalesce(o.channelId, a.channelId),
            startsDelivered = a.startsDelivered - (o.record = 'rejected')::integer,
            lastTimestampSent = greatest(a.lastTimestampSent, o.stamp),
            lastStateHash = CASE WHEN o.stamp > a.lastTimestampSent THEN o.hash ELSE a.lastStateHash END
        FROM unnest(\(keys.columns), \(records), \(nexts), \(acceptedAts), \(stamps), \(hashes), \(channelIds), \(moments))
            AS o(subject, userId, deviceId, instance, record, nextStartAt, acceptedAt, stamp, hash, channelId, at)
        WHERE \(KeyColumns.match)
        """
    }

    var starts: Query {
        """
        UPDATE activityStarts s SET outcome = o.record FROM unnest(\(startIds), \(records)) AS o(startId, record)
        WHERE s.startId = o.startId
        """
    }
}
