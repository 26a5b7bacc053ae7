import Attempts
import Delivery
import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Postgres
import PushContract
import ServiceKit
import Synchronization
import TestDatabase

/// A registry on a database of its own, over the store and over its routes.
struct RegistryBench {
    let pool: PostgresPool
    let store: DeviceStore
    let cipher: TokenCipher
    let clock = BenchClock()
    let removals = Removals()

    /// - Parameter records: false for tests that leap months ahead, where no partition takes an attempt.
    static func with(
        records: Bool = true,
        limit: Int = DeviceStore.standardLimit,
        _ body: (RegistryBench) async throws -> Void
    ) async throws {
        try await withDatabase { pool in
            try await PartitionMaintenance(pool: pool, logger: .silent).maintain()
            try await body(RegistryBench(pool: pool, records: records, limit: limit))
        }
    }

    init(pool: PostgresPool, records: Bool, limit: Int) {
        self.pool = pool
        cipher = TokenCipher(.random())
        let silent: AttemptRecorder = { _, _ in }
        store = DeviceStore(
            pool: pool,
            cipher: cipher,
            record: records ? AttemptRecording.recorder(slot: 9, logger: .silent) : silent,
            onRemoval: { [removals] gone, _, _ in removals.add(gone) },
            limit: limit
        )
    }

    /// An APNs token that differs by its number; start tokens are longer than push tokens, as Apple's are.
    static func token(_ number: Int) -> String { String(repeating: "0", count: 60) + "\(1000 + number)" }
    static func startToken(_ number: Int) -> String { String(repeating: "ab", count: 78) + "\(1000 + number)" }

    @discardableResult
    func register(
        _ userId: String,
        _ deviceId: String,
        token: Int,
        app: String = "com.example.app",
        os: String? = "18.2",
        at now: Timestamp? = nil,
        secret: UnregisterSecret = .generate(),
        requestId: String? = nil
    ) async throws -> Device {
        let registration = try DeviceRegistration.iPhone(userId, deviceId, token: Self.token(token), app: app, osVersion: os)
        return try await store.register(registration, secret: secret, requestId: requestId ?? Self.requestId(), now: now ?? clock.now)
    }

    @discardableResult
    func registerStart(_ userId: String, _ deviceId: String, start: Int, at now: Timestamp? = nil) async throws -> Device {
        let token = try PushToken(Self.startToken(start), provider: .apns)
        let registration = StartTokenRegistration(userId: userId, deviceId: deviceId, token: token)
        return try await store.register(registration, requestId: Self.requestId(), now: now ?? clock.now)
    }

    static func requestId() -> String { "request-\(UInt64.random(in: 0 ... .max))" }

    func device(_ userId: String, _ deviceId: String) async throws -> Device? {
        try await store.device(userId: userId, deviceId: deviceId, now: clock.now)
    }

    func starts(of users: [String], app: String? = nil) async throws -> [StartTarget] {
        try await StartTarget.all(of: users, app: app, in: pool, cipher: cipher, now: clock.now)
    }

    func pushTargets(of users: [String]) async throws -> [DeviceTarget] {
        let now = clock.now
        return try await pool.performTransaction { try DeviceTargets.of(users: users, on: $0, now: now) }.filter {
            $0.tokenState != .inactive
        }
    }

    func count(_ table: String) async throws -> Int {
        try await pool.query("SELECT count(*) FROM \(raw: table)")[0].decode(Int.self)
    }

    func attempts() async throws -> [String] {
        try await pool.query(
            "SELECT eventType || ' ' || uid || ' ' || coalesce(pushType, '') FROM notificationDeliveryAttempts ORDER BY attemptedAt, 1"
        )
        .map { try $0.decode(String.self).trimmingSpaces }
    }

    /// The registrations that were refused: whose, of which push type, and why.
    func refusals() async throws -> [String] {
        try await pool.query(
            """
            SELECT concat_ws(' ', uid, coalesce(pushType, '-'), status, reasonCode, providerErrorCode) FROM notificationDeliveryAttempts
            WHERE eventType = 'register' AND status <> 'sent' ORDER BY 1
            """
        )
        .map { try $0.decode(String.self) }
    }

    /// The routes, with whoever the `Authorization` header names as the app user.
    func withRoutes(
        defaults: DeviceDefaults = DeviceDefaults(),
        _ body: @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        let router = HTTPRouter(authentication: AuthenticationMiddleware(NamedUsers()))
        DeviceRoutes(store: store, defaults: { defaults }, now: { [clock] in clock.now }).add(to: router)
        try await Application(router: router).test(.router, body)
    }
}

extension String {
    fileprivate var trimmingSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }
}

/// The wall clock of a test.
final class BenchClock: Sendable {
    private let moment = Mutex(Timestamp(seconds: Timestamp.now().seconds - 3600))

    var now: Timestamp { moment.withLock { $0 } }

    func advance(by duration: Duration) { moment.withLock { $0 = $0 + duration } }
}

/// Who left, as the store told.
final class Removals: Sendable {
    private let list = Mutex<[DeviceRemoval]>([])

    var all: [DeviceRemoval] { list.withLock { $0 } }

    func add(_ gone: [DeviceRemoval]) { list.withLock { $0 += gone } }
}

private struct NamedUsers: Authenticator {
    func authenticate(_ request: Request) async throws -> Caller? {
        guard let name = request.headers[.authorization] else { return nil }
        if name == "service" { return .key(id: "k", name: "service", scopes: Set(Scope.allScopes)) }
        if name.hasPrefix(UnregisterSecret.prefix) { return .deviceSecret(hash: UnregisterSecret(text: name).hash) }
        return .user(userId: name)
    }
}

extension TestClientProtocol {
    func call(_ method: HTTPRequest.Method, _ path: String, as caller: String?, _ body: String? = nil) async throws -> TestResponse {
        var headers: HTTPFields = [:]
        headers[.authorization] = caller
        if body != nil { headers[.contentType] = "application/json" }
        return try await execute(uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
    }
}

extension TestResponse {
    var text: String { String(buffer: body) }

    var json: JSONMembers {
        guard case .object(let members)? = try? JSONParser.parse(Array(text.utf8)) else { return [:] }
        return members
    }

    func string(_ path: String...) -> String? {
        var value: JSONValue? = .object(json)
        for key in path {
            guard case .object(let members)? = value else { return nil }
            value = members[key]
        }
        guard case .string(let text)? = value else { return nil }
        return text
    }
}
