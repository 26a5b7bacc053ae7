import Cricket
import Foundation
import HTTPClient
import LiveActivities
import Postgres
import ProviderSimulator
import PushClient
import PushContract
import ServiceLifecycle
import Synchronization
import TestDatabase
import TestSupport
import Testing

/// A server of its own process, the provider simulator, and the fleet of phones.
struct MatchDay: Sendable {
    let server: ServerProcess
    let simulator: ProviderSimulator
    let pool: PostgresPool
    let followers: FollowerFleet
    let fleet: PhoneFleet
    let match: @Sendable (_ notify: @escaping @Sendable (RepeatedMatch.News) async -> Void) -> RepeatedMatch
    private let seen: Seen

    fileprivate final class Seen: Sendable {
        let metrics = Mutex("")
        let answers = Mutex<[String]>([])
    }

    func phone(_ number: Int) -> SimulatedPhone { followers.phones[number] }
    var metrics: String { seen.metrics.withLock { $0 } }
    var answers: [String] { seen.answers.withLock { $0 } }

    /// Of all phones: what was sent to the simulator, and what the phones posted to the API.
    var rawTokens: Set<String> {
        var tokens = Set(simulator.requests(provider: .apns).compactMap { $0.token?.lowercased() })
        for phone in followers.phones {
            for request in phone.transport.sent {
                guard let body = request.body, let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else {
                    continue
                }
                for name in ["pushToken", "pushToStartToken", "updateToken"] {
                    if let token = object[name] as? String { tokens.insert(token.lowercased()) }
                }
            }
        }
        return tokens
    }

    /// One match from its announcement to its last state, with the phones following; its id.
    func play() async throws -> String {
        let played = Mutex<String?>(nil)
        let announced = match { news in
            switch news {
            case .announced(let fixture): followers.turn(to: fixture.matchId)
            case .over(let fixture): played.withLock { $0 = fixture.matchId }
            case .refused(_, let why): Issue.record("the match was refused: \(why)")
            }
        }
        try await withStepping {
            try await announced.playOnce()
            for path in ["/sends/deactivation-limiters", "/sends/holds"] {
                let answer = try await server.api.get(path)
                seen.answers.withLock { $0.append(answer.text) }
            }
            let metrics = try await server.api.get("/metrics")
            seen.metrics.withLock { $0 = metrics.text }
        }
        return try #require(played.withLock { $0 })
    }

    /// A match goes on while `body` looks.
    func beginMatch(_ body: (_ matchId: String) async throws -> Void) async throws {
        let current = Mutex<String?>(nil)
        let announced = match { news in
            guard case .announced(let fixture) = news else { return }
            followers.turn(to: fixture.matchId)
            current.withLock { $0 = fixture.matchId }
        }
        try await withStepping {
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Cancelled when the test has seen enough.
                group.addTask { try? await announced.playOnce() }
                try await body(try await eventually("the match is announced") { current.withLock { $0 } })
                group.cancelAll()
            }
        }
    }

    private func withStepping(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [fleet] in
                while !Task.isCancelled {
                    await fleet.step()
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
            try await body()
            group.cancelAll()
        }
    }

    fileprivate init(
        server: ServerProcess,
        simulator: ProviderSimulator,
        pool: PostgresPool,
        followers: FollowerFleet,
        match: @escaping @Sendable (_ notify: @escaping @Sendable (RepeatedMatch.News) async -> Void) -> RepeatedMatch
    ) {
        self.server = server
        self.simulator = simulator
        self.pool = pool
        self.followers = followers
        self.match = match
        fleet = PhoneFleet(followers.phones) { await followers.live($0) }
        seen = Seen()
    }
}

func withMatchDay(
    pace: ReplayPace = ReplayPace(millisecondsPerBall: 40_000, breakSeconds: 400, shortBreakSeconds: 100, speed: 200),
    settings: [String: String] = [:],
    _ body: (MatchDay) async throws -> Void
) async throws {
    try await withDatabaseURL { database in
        try await withTestDirectory { directory in
            var simulation = SimulatorConfiguration(directory: directory)
            simulation.keptRequests = 100_000
            try await ProviderSimulator.running(simulation) { simulator, endpoints in
                let issuer = try UserIssuer(directory: directory)
                let files = try ProviderFiles(simulator, endpoints, directory: directory)
                let server = try await ServerProcess.start(
                    database: database,
                    settings: files.apns
                        .merging(["USERS_ISSUER": UserIssuer.issuer, "USERS_JWKS": issuer.jwksPath, "LOG_LEVEL": "trace"]) { $1 }
                        .merging(settings) { $1 }
                )
                try await server.waitUntilReady()
                let client = CurlClient(configuration: CurlClientConfiguration())
                let url = server.api.url
                let transport = HTTPPushTransport(url: url, client: client) { uid in try? issuer.token(userId: uid) }
                let followers = FollowerFleet(FollowerFleet.mixed(boot: "test", second: .milliseconds(100)) { "fan-\($0)" }) {
                    SimulatedPhone($0, transport: PhoneTransport(transport), simulator: simulator)
                }
                let script = MatchScript(
                    try CricsheetMatch.read(json: Data(contentsOf: URL(fileURLWithPath: ProjectDirectory.root + "/matches/demo.json")))
                )
                try await withPool(database) { pool in
                    try await body(
                        MatchDay(server: server, simulator: simulator, pool: pool, followers: followers) { notify in
                            RepeatedMatch(
                                script,
                                pace: pace,
                                lead: .seconds(3),
                                feeder: { feed in
                                    MatchFeeder(feed: feed, url: url, key: RunningServer.bootstrapKey) { try await client.send($0) }
                                },
                                notify: notify
                            )
                        }
                    )
                }
            }
        }
    }
}
