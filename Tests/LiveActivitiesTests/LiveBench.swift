import Attempts
import Delivery
import HTTPServer
import Logging
import Postgres
import Providers
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import LiveActivities

/// A database of its own, the stores and an engine on it, APNs scripted, the clock in the test's hand.
struct LiveBench: Sendable {
    let pool: PostgresPool
    let devices: DeviceStore
    let follows: FollowStore
    let activities: ActivityStore
    let apns = ScriptedAPNs()
    let clock: TestClock
    let instance: LiveInstance
    let channels: ChannelStore
    let policy: StartPolicy

    static func with(_ change: (inout LiveConfiguration) -> Void = { _ in }, _ body: (LiveBench) async throws -> Void) async throws {
        var configuration = LiveConfiguration()
        configuration.owner = "bench"
        change(&configuration)
        let settled = configuration
        try await withDatabase { pool in
            try await PartitionMaintenance(pool: pool, logger: .silent).maintain()
            try await body(LiveBench(pool, settled))
        }
    }

    private init(_ pool: PostgresPool, _ configuration: LiveConfiguration) {
        self.pool = pool
        policy = configuration.policy
        let clock = TestClock()
        self.clock = clock
        devices = BenchParts.devices(pool)
        follows = FollowStore(pool: pool, policy: policy)
        activities = ActivityStore(pool: pool, cipher: BenchParts.cipher)
        let apns = self.apns
        instance = LiveInstance(pool, configuration, lookup: { _, _, _ in apns }, clock: clock)
        channels = ChannelStore(pool: pool, policy: configuration.channels)
    }

    /// Another process on the same database.
    func another(owner: String, logger: Logger = .silent, change: (inout LiveConfiguration) -> Void = { _ in }) -> LiveInstance {
        var configuration = LiveConfiguration()
        configuration.owner = owner
        change(&configuration)
        let apns = self.apns
        return LiveInstance(pool, configuration, lookup: { _, _, _ in apns }, clock: clock, logger: logger)
    }

    var engine: LiveEngine { instance.engine }
    var now: Timestamp { clock.now }

    /// The work until nothing is left.
    ///
    /// - Parameter all: with all that a cycle does.
    ///   The feed has just said that nothing has changed, unless it is silent.
    func run(all: Bool = true, feedIsSilent: Bool = false) async throws {
        if !feedIsSilent { try await confirm() }
        try await instance.runUntilIdle(all: all)
    }

    /// What a source does that has nothing new.
    func confirm() async throws {
        try await pool.execute(MatchQueries.confirm("true", now: now))
        try await pool.execute(CustomQueries.confirm("true", now: now))
    }

    static func token(_ number: Int) -> String { String(repeating: "a", count: 60) + "\(1000 + number)" }
    static func startToken(_ number: Int) -> String { String(repeating: "b", count: 60) + "\(1000 + number)" }
    static func updateToken(_ number: Int) -> String { String(repeating: "c", count: 59) + "\(10_000 + number)" }

    /// A phone that can be started by a push.
    func phone(_ userId: String, _ deviceId: String, _ number: Int, startToken: Bool = true, osVersion: String = "18.1") async throws {
        let registration = DeviceRegistration(
            userId: userId,
            deviceId: deviceId,
            token: try PushToken(LiveBench.token(number), provider: .apns),
            platform: .ios,
            provider: .apns,
            app: "com.example.app",
            osVersion: osVersion
        )
        _ = try await devices.register(registration, requestId: "r-\(userId)-\(deviceId)-\(number)", now: now)
        if startToken { try await BenchParts.giveStartToken(LiveBench.startToken(number), userId, deviceId, self) }
    }

    /// As many followers, each with an iPhone, written at once. Their tokens cannot be decrypted.
    func followers(_ count: Int, of subject: String) async throws {
        try await pool.execute(
            """
            INSERT INTO devices (userId, deviceId, platform, provider, environment, app, pushToken, pushTokenHash, tokenState,
                tokenStateSince, osVersion, registrationVersion, registeredAt, tokenRegisteredAt, lastSeenAt, expiresAt,
                pushToStartToken, pushToStartTokenHash, pushToStartTokenState, pushToStartTokenSince, pushToStartRegisteredAt,
                pushToStartVersion)
            SELECT 'u' || n, 'd' || n, 'ios', 'apns', 'production', 'com.example.app', 'x',
                'sha256:' || encode(sha256(('p' || n)::bytea), 'hex'), 'active', \(now), '18.1', nextval('deviceRegistrationVersions'), \(now), \(now), \(now), \(now) + interval '90 days',
                'x', 'sha256:' || encode(sha256(('s' || n)::bytea), 'hex'), 'active', \(now), \(now),
                nextval('deviceRegistrationVersions')
            FROM generate_series(1, \(count)) AS n
            """
        )
        try await pool.execute(
            "INSERT INTO follows (userId, matchId, followedAt) SELECT 'u' || n, \(subject), \(now) FROM generate_series(1, \(count)) AS n"
        )
    }

    func follow(_ userId: String, _ matchId: String = "m1", from deviceId: String? = nil, startsHere: Bool = false) async throws {
        _ = try await follows.follow(userId: userId, matchId: matchId, deviceId: deviceId, startsHere: startsHere, now: now)
    }

    /// What `match` does when a feed brings a change.
    func score(
        _ matchId: String = "m1",
        phase: String = "live",
        runs: Int,
        event: (name: String, priority: Int)? = nil,
        alert: String? = nil
    ) async throws {
        let state = #"{"matchId":"\#(matchId)","phase":"\#(phase)","runs":\#(runs),"status":"RR need runs","title":"RR v KKR"}"#
        try await pool.execute(
            """
            INSERT INTO activeMatches AS m (matchId, phase, displayState, stateHash, stateTimestamp, stateBuiltAt, lastUpdatedAt, confirmedAt,
                keyEvent, keyEventPriority)
            VALUES (\(matchId), \(phase), \(state), \(state), \(now.seconds), \(now), \(now), \(now), \(event?.name),
                \((event?.priority).map { Int16($0) }))
            ON CONFLICT (matchId) DO UPDATE SET phase = excluded.phase, displayState = excluded.displayState, seq = m.seq + 1,
                stateHash = excluded.stateHash, stateTimestamp = greatest(excluded.stateTimestamp, m.stateTimestamp + 1),
                stateBuiltAt = excluded.stateBuiltAt, lastUpdatedAt = excluded.lastUpdatedAt, confirmedAt = excluded.confirmedAt, keyEvent = excluded.keyEvent,
                keyEventPriority = excluded.keyEventPriority
            """
        )
        guard let alert else { return }
        let newest: Query = "SELECT matchId, stateTimestamp FROM activeMatches WHERE matchId = \(matchId)"
        let text = LiveSubject.Alert(title: alert, body: "RR v KKR")
        try await pool.execute(AlertQueries.insert(text, priority: event?.priority ?? 1, of: newest, now: now))
    }

    @discardableResult
    func postToken(
        _ userId: String,
        _ deviceId: String,
        _ number: Int,
        match: String = "m1",
        instance: Int? = nil
    ) async throws -> TokenVerdict? {
        let token = try PushToken(LiveBench.updateToken(number), provider: .apns)
        return try await activities.post(
            TokenPost(subject: match, userId: userId, deviceId: deviceId, token: token, instance: instance),
            now: now
        )
    }

    @discardableResult
    func dismiss(
        _ userId: String,
        _ deviceId: String,
        cause: DismissalCause = .user,
        instance: Int? = nil,
        match: String = "m1"
    ) async throws -> DismissalVerdict {
        try await activities.dismiss(
            Dismissal(subject: match, userId: userId, deviceId: deviceId, cause: cause, instance: instance),
            now: now
        )
    }

    /// A follower with a running activity that was sent the current state.
    func running(_ userId: String = "ann", _ deviceId: String = "phone", _ number: Int = 1, match: String = "m1") async throws {
        try await phone(userId, deviceId, number)
        try await follow(userId, match)
        try await run()
        #expect(try await postToken(userId, deviceId, number, match: match) != nil)
        try await run()
    }

    func history(_ userId: String = "ann", _ deviceId: String = "phone", match: String = "m1") async throws -> ActivityHistory {
        try await activities.history(subject: match, userId: userId, deviceId: deviceId)
    }

    func count(_ query: Query) async throws -> Int { try await pool.query(query)[0].decode(Int.self) }

    /// `status/endReason` of all instances of a key.
    func states(_ userId: String = "ann", _ deviceId: String = "phone", match: String = "m1") async throws -> [String] {
        try await history(userId, deviceId, match: match).instances.map { instance in
            instance.status.rawValue + (instance.endReason.map { "/\($0.rawValue)" } ?? "")
        }
    }
}

/// Time as the test says. Starts at the present: attempts far from it are refused.
final class TestClock: Sendable {
    private let state = Mutex((moment: Timestamp.now(), advanced: Duration.zero))

    var now: Timestamp { state.withLock { $0.moment } }

    func advance(_ duration: Duration) {
        state.withLock { state in
            state.moment = state.moment + duration
            state.advanced += duration
        }
    }

    /// How far it went since this was asked last.
    func takeAdvance() -> Duration {
        state.withLock { state in
            defer { state.advanced = .zero }
            return state.advanced
        }
    }
}
