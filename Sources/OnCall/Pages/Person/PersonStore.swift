import Attempts
import Postgres
import PushContract

/// Finds a person by uid, token, device, send or attempt, and reads what is stored about them. Each read uses an index and is bounded.
struct PersonStore: Sendable {
    /// How far back attempts are read.
    static let days: Int64 = 14
    /// How many attempts, and how many people of a send, a page shows.
    static let limit = 100

    enum Match: Hashable {
        case person(String)
        /// A send to several people.
        case people(sendId: String, uids: [String])
        case noMatch
    }

    private let pool: PostgresPool

    init(pool: PostgresPool) { self.pool = pool }

    func find(_ term: SearchTerm, now: Timestamp) async throws -> Match {
        switch term {
        case .nothing: .noMatch
        case .token(let hashes, let attempt): try await find(hashes, attempt)
        case .name(let name): try await find(named: name, now: now)
        }
    }

    private func find(_ hashes: [String], _ key: AttemptKey?) async throws -> Match {
        if let row = try await pool.query(Self.owner(ofToken: hashes)).first { return .person(try row.decode(String.self)) }
        guard let key else { return .noMatch }
        return try await AttemptStore(pool).find(key).map { .person($0.uid) } ?? .noMatch
    }

    /// A uid goes first, then a device, a send, an attempt.
    private func find(named name: String, now: Timestamp) async throws -> Match {
        let known = try await pool.query(
            """
            SELECT userId FROM devices WHERE userId = \(name)
            UNION ALL SELECT uid FROM notificationDeliveryAttempts
                      WHERE uid = \(name) AND attemptedAt >= \(now - .seconds(Self.days * 86_400))
            UNION ALL SELECT userId FROM devices WHERE deviceId = \(name)
            LIMIT 1
            """
        )
        if let row = known.first { return .person(try row.decode(String.self)) }
        let uids = try await pool.query(
            "SELECT DISTINCT uid FROM pushDeliveries WHERE sendId = \(name) ORDER BY uid LIMIT \(Self.limit)"
        ).map { try $0.decode(String.self) }
        if uids.count > 1 { return .people(sendId: name, uids: uids) }
        if let uid = uids.first { return .person(uid) }
        return try await AttemptStore(pool).find(attemptId: name).map { .person($0.uid) } ?? .noMatch
    }

    static func owner(ofToken hashes: [String]) -> Query {
        let bytes = hashes.compactMap { TokenHash(rawValue: $0)?.bytes }
        return """
            SELECT userId FROM devices WHERE pushTokenHash = ANY(\(hashes)) AND tokenState <> 'inactive'
            UNION ALL SELECT userId FROM devices WHERE pushToStartTokenHash = ANY(\(hashes)) AND pushToStartTokenState <> 'inactive'
            UNION ALL SELECT userId FROM deviceStartTokens WHERE tokenHash = ANY(\(hashes)) AND state <> 'inactive'
            UNION ALL SELECT userId FROM devices WHERE pushTokenHash = ANY(\(hashes)) AND tokenState = 'inactive'
            UNION ALL SELECT userId FROM liveActivities WHERE updateTokenHash = ANY(\(hashes)) AND status = 'active'
            UNION ALL SELECT uid FROM pushDeliveries WHERE tokenHash = ANY(\(bytes)) AND createdAt >= now() - interval '2 days'
            LIMIT 1
            """
    }

    func read(_ uid: String, now: Timestamp) async throws -> PersonData {
        let attempts = try await AttemptStore(pool).list(
            uid: uid,
            tokenHash: nil,
            since: now - .seconds(Self.days * 86_400),
            limit: Self.limit + 1
        )
        return PersonData(
            uid: uid,
            devices: try await devices(uid),
            activities: try await activities(uid),
            waiting: try await waiting(uid, now: now),
            attempts: Array(attempts.prefix(Self.limit)),
            hasMoreAttempts: attempts.count > Self.limit
        )
    }

    private func devices(_ uid: String) async throws -> [PersonData.Device] {
        try await pool.query(
            """
            SELECT deviceId, platform, provider, environment, app, appVersion, osVersion, pushTokenHash, tokenState, tokenStateCause,
                   tokenStateSince, pushToStartTokenHash IS NOT NULL OR EXISTS (
                       SELECT FROM deviceStartTokens t WHERE t.userId = devices.userId AND t.deviceId = devices.deviceId
                   ), lastSeenAt, expiresAt
            FROM devices WHERE userId = \(uid) ORDER BY lastSeenAt DESC, deviceId LIMIT 50
            """
        ).compactMap { row in
            let values = try row.decode(
                (String, String, String, String, String, String?, String?, String, String, String?, Timestamp, Bool, Timestamp, Timestamp)
                    .self
            )
            guard let platform = Platform(rawValue: values.1), let provider = Provider(rawValue: values.2) else { return nil }
            return PersonData.Device(
                deviceId: values.0,
                platform: platform,
                provider: provider,
                environment: values.3,
                app: values.4,
                appVersion: values.5,
                osVersion: values.6,
                tokenHash: values.7,
                tokenState: values.8,
                tokenStateCause: values.9,
                tokenStateSince: values.10,
                hasStartToken: values.11,
                lastSeenAt: values.12,
                expiresAt: values.13
            )
        }
    }

    private func activities(_ uid: String) async throws -> [PersonData.Activity] {
        try await pool.query(
            """
            SELECT matchId, deviceId, instance, status, endReason, createdAt, activatedAt, endedAt, lastSentAt
            FROM liveActivities WHERE userId = \(uid) ORDER BY createdAt DESC, deviceId LIMIT 50
            """
        ).map { row in
            let values = try row.decode((String, String, Int, String, String?, Timestamp, Timestamp?, Timestamp?, Timestamp?).self)
            return PersonData.Activity(
                subject: values.0,
                deviceId: values.1,
                instance: values.2,
                status: values.3,
                endReason: values.4,
                createdAt: values.5,
                activatedAt: values.6,
                endedAt: values.7,
                lastSentAt: values.8
            )
        }
    }

    private func waiting(_ uid: String, now: Timestamp) async throws -> [PersonData.Waiting] {
        try await pool.query(
            """
            SELECT sendId, deviceId, provider, app, state, reasonCode, createdAt, nextAttemptAt FROM pushDeliveryStates
            WHERE uid = \(uid) AND sendId IS NOT NULL AND createdAt >= \(now - .seconds(Self.days * 86_400))
                AND state IN ('ready', 'scheduled', 'blocked', 'sending')
            ORDER BY createdAt LIMIT 50
            """
        ).compactMap { row in
            let values = try row.decode((String, String?, String, String, String, String?, Timestamp, Timestamp?).self)
            guard let provider = Provider(rawValue: values.2) else { return nil }
            return PersonData.Waiting(
                sendId: values.0,
                deviceId: values.1,
                provider: provider,
                app: values.3,
                state: values.4,
                reasonCode: values.5,
                createdAt: values.6,
                nextAttemptAt: values.7
            )
        }
    }
}
