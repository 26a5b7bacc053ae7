import CoreMetrics
package import Devices
package import Postgres
package import PushContract
package import Sending

/// Writes what came of pushes: activity rows, token actions, holds and attempts, in one transaction for many.
package struct OutcomeStore: Sendable {
    /// What a batch came to.
    package struct Report: Sendable {
        /// The places of those whose token action a breaker withheld.
        package var withheld: Set<Int> = []
        package var standstill = Standstill.Report()
    }

    private let pool: PostgresPool
    private let tokenGuard: TokenGuard
    private let channels: ChannelPolicy
    private let record: AttemptRecorder

    /// - Parameter tokenGuard: what every token action goes through.
    package init(
        pool: PostgresPool,
        tokenGuard: TokenGuard = TokenGuard(),
        channels: ChannelPolicy = ChannelPolicy(),
        record: @escaping AttemptRecorder
    ) {
        self.pool = pool
        self.channels = channels
        self.tokenGuard = tokenGuard
        self.record = record
    }

    @discardableResult
    package func write(_ outcomes: [LiveOutcome]) async throws -> Report {
        guard !outcomes.isEmpty else { return Report() }
        return try await pool.performTransaction { [tokenGuard, channels, record] connection in
            var report = Report()
            try OutcomeQueries.updated(outcomes, on: connection)
            try OutcomeQueries.ended(outcomes, on: connection)
            try OutcomeQueries.started(outcomes, on: connection)
            for outcome in outcomes {
                guard case .channel(let effect) = outcome.effect else { continue }
                try ChannelWriting.apply([effect], policy: channels, on: connection, now: outcome.at)
            }
            let breakers = try admitted(outcomes, by: tokenGuard, on: connection)
            report.withheld = Set(breakers.keys)
            var off = try OutcomeQueries.dead(outcomes, withheld: report.withheld, on: connection)
            off.formUnion(try startTokens(outcomes, withheld: breakers, on: connection))
            report.standstill = try Standstill.write(
                openings: outcomes.compactMap(\.opening),
                releases: Set(outcomes.flatMap(\.releases)),
                pauses: outcomes.compactMap(\.pause),
                on: connection
            )
            let attempts = outcomes.enumerated().compactMap { place, outcome -> Attempt? in
                guard var attempt = outcome.attempt else { return nil }
                if off.contains(place) && attempt.status == .failed { attempt.status = .deactivated }
                return attempt
            }
            if !attempts.isEmpty { try record(attempts, connection) }
            return report
        }
    }

    /// Counts what was said of tokens; the breakers, by the outcome's place, that keep a token from being given up.
    private func admitted(
        _ outcomes: [LiveOutcome],
        by tokenGuard: TokenGuard,
        on connection: BlockingConnection
    ) throws -> [Int: Int64] {
        let struck = outcomes.enumerated().compactMap { place, outcome in outcome.strike.map { (place, $0) } }
        let judgements = outcomes.compactMap(\.judgement)
        guard !struck.isEmpty || !judgements.isEmpty else { return [:] }
        let report = try tokenGuard.admit(struck.map(\.1), judgements: judgements, on: connection, now: outcomes[0].at)
        return Dictionary(uniqueKeysWithValues: report.withheld.map { (struck[$0.key].0, $0.value) })
    }

    /// The places of starts that switched their token off.
    private func startTokens(
        _ outcomes: [LiveOutcome],
        withheld: [Int: Int64],
        on connection: BlockingConnection
    ) throws -> Set<Int> {
        let struck = outcomes.enumerated().compactMap { place, outcome in
            outcome.isStart ? outcome.strike.map { (place: place, strike: $0) } : nil
        }
        guard !struck.isEmpty else { return [] }
        var breakers: [Int: Int64] = [:]
        for (index, entry) in struck.enumerated() { breakers[index] = withheld[entry.place] }
        let off = try StartTokens.apply(struck.map(\.strike), withheld: breakers, on: connection, now: outcomes[0].at)
        return Set(off.map { struck[$0].place })
    }
}

enum OutcomeQueries {
    /// Timestamps rise: a late answer about an older state changes nothing.
    static func updated(_ outcomes: [LiveOutcome], on connection: BlockingConnection) throws {
        var keys = KeyColumns()
        var stamps: [Int64] = []
        var hashes: [String] = []
        var moments: [Timestamp] = []
        for outcome in outcomes {
            guard case .updated(let timestamp, let hash) = outcome.effect else { continue }
            keys.append(outcome.key)
            stamps.append(timestamp)
            hashes.append(hash)
            moments.append(outcome.at)
        }
        guard !stamps.isEmpty else { return }
        try connection.execute(
            """
            UPDATE liveActivities a SET lastTimestampSent = o.stamp, lastStateHash = o.hash, lastSentAt = o.at, suspicions = 0
            FROM unnest(\(keys.columns), \(stamps), \(hashes), \(moments)) AS o(subject, userId, deviceId, generation, stamp, hash, at)
            WHERE \(KeyColumns.match) AND a.lastTimestampSent < o.stamp
            """
        )
    }

    /// Which of them ended an activity: those whose token was not replaced meanwhile, and that no breaker withholds.
    static func dead(_ outcomes: [LiveOutcome], withheld: Set<Int>, on connection: BlockingConnection) throws -> Set<Int> {
        var keys = KeyColumns()
        var places: [Int] = []
        var hashes: [String] = []
        var goneAts: [Timestamp?] = []
        var certain: [Bool] = []
        var moments: [Timestamp] = []
        for (place, outcome) in outcomes.enumerated() where !withheld.contains(place) {
            switch outcome.effect {
            case .tokenOff(let goneAt):
                certain.append(true)
                goneAts.append(goneAt)
            case .tokenSuspect:
                certain.append(false)
                goneAts.append(nil)
            default: continue
            }
            keys.append(outcome.key)
            places.append(place)
            hashes.append(outcome.tokenHash.rawValue)
            moments.append(outcome.at)
        }
        guard !places.isEmpty else { return [] }
        let rows = try connection.query(
            """
            UPDATE liveActivities a SET suspicions = a.suspicions + 1,
                status = (CASE WHEN o.certain OR a.suspicions >= 1 THEN 'ended' ELSE 'active' END)::activityStatus,
                endReason = CASE WHEN o.certain OR a.suspicions >= 1 THEN 'token_invalid' END,
                endedAt = CASE WHEN o.certain OR a.suspicions >= 1 THEN o.at END
            FROM unnest(\(keys.columns), \(places), \(hashes), \(goneAts), \(certain), \(moments))
                AS o(subject, userId, deviceId, generation, place, hash, goneAt, certain, at)
            WHERE \(KeyColumns.match) AND a.status = 'active' AND a.updateTokenHash = o.hash
              AND a.tokenRegisteredAt <= coalesce(o.goneAt, 'infinity')
            RETURNING o.place, a.status
            """
        )
        return Set(
            try rows.compactMap { row in
                let (place, status) = try row.decode(Int.self, String.self)
                return status == "ended" ? place : nil
            }
        )
    }

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

    static func ended(_ outcomes: [LiveOutcome], on connection: BlockingConnection) throws {
        var keys = KeyColumns()
        var retries: [Timestamp?] = []
        for outcome in outcomes {
            guard case .ended(let retryAt) = outcome.effect else { continue }
            keys.append(outcome.key)
            retries.append(retryAt)
        }
        guard !retries.isEmpty else { return }
        try connection.execute(
            """
            UPDATE liveActivities a SET endDueAt = o.retryAt
            FROM unnest(\(keys.columns), \(retries)) AS o(subject, userId, deviceId, generation, retryAt)
            WHERE \(KeyColumns.match) AND a.status = 'ended'
            """
        )
    }
}

/// Keys as columns, for `unnest`.
struct KeyColumns {
    private var subjects: [String] = []
    private var users: [String] = []
    private var devices: [String] = []
    private var generations: [Int32] = []

    mutating func append(_ key: ActivityKey) {
        subjects.append(key.subject)
        users.append(key.userId)
        devices.append(key.deviceId)
        generations.append(Int32(key.generation))
    }

    var columns: Query { "\(subjects), \(users), \(devices), \(generations)" }

    static let match: Query = "a.matchId = o.subject AND a.userId = o.userId AND a.deviceId = o.deviceId AND a.generation = o.generation"
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
    /// Of accepted starts alone: an activity that listens is there with its start, for no token tells of it.
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
        stamps.append(decision.record == .refused ? 0 : stamp)
        hashes.append(hash)
        moments.append(outcome.at)
        channelIds.append(decision.record == .accepted ? channelId : nil)
    }

    /// Activities whose next generation listens to a channel, and so is there now.
    var replaced: Query {
        """
        UPDATE liveActivities a SET status = 'ended', endReason = \(EndReason.rolledOver.rawValue), endedAt = o.at, nextStartAt = NULL,
            endDueAt = CASE WHEN a.updateToken IS NOT NULL THEN o.at END
        FROM unnest(\(keys.columns), \(channelIds), \(moments)) AS o(subject, userId, deviceId, generation, channelId, at)
        WHERE a.matchId = o.subject AND a.userId = o.userId AND a.deviceId = o.deviceId AND a.generation < o.generation
          AND a.status = 'active' AND o.channelId IS NOT NULL
          AND EXISTS (SELECT FROM liveActivities n WHERE n.matchId = o.subject AND n.userId = o.userId AND n.deviceId = o.deviceId
              AND n.generation = o.generation AND n.status = 'pending')
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
            startsDelivered = a.startsDelivered - (o.record = 'refused')::integer,
            lastTimestampSent = greatest(a.lastTimestampSent, o.stamp),
            lastStateHash = CASE WHEN o.stamp > a.lastTimestampSent THEN o.hash ELSE a.lastStateHash END
        FROM unnest(\(keys.columns), \(records), \(nexts), \(acceptedAts), \(stamps), \(hashes), \(channelIds), \(moments))
            AS o(subject, userId, deviceId, generation, record, nextStartAt, acceptedAt, stamp, hash, channelId, at)
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
