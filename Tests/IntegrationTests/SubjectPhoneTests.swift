import Foundation
import HTTPClient
import HTTPServer
import Postgres
import PushClient
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestDatabase
import TestSupport
import Testing

@testable import ProviderSimulator

extension WholeService {
    /// The shipped types in a server of its own process, with simulated phones that run the real client.
    @Suite("Subjects of the shipped types on simulated phones")
    struct SubjectPhoneTests {
        struct Example: Sendable, CustomTestStringConvertible {
            var type: String
            var attributes: String
            var first: String
            var second: String
            var testDescription: String { type }

            var subject: String { "\(type)/s-1" }
        }

        private static let examples = [
            Example(
                type: "FootballActivityAttributes",
                attributes: #"{"home": "Arsenal", "away": "Chelsea"}"#,
                first: #"{"phase": "firstHalf", "minute": 3, "homeGoals": 0, "awayGoals": 0}"#,
                second: #"{"phase": "firstHalf", "minute": 9, "homeGoals": 1, "awayGoals": 0, "event": "9' Saka"}"#
            ),
            Example(
                type: "DeliveryActivityAttributes",
                attributes: #"{"merchant": "Shop", "orderNumber": "17"}"#,
                first: #"{"stage": "pickedUp", "stopsAway": 9}"#,
                second: #"{"stage": "nearby", "stopsAway": 1, "note": "At the door soon"}"#
            ),
            Example(
                type: "PagerActivityAttributes",
                attributes: #"{"recipient": "Ann"}"#,
                first: pager("Disk full"),
                second: pager("Disk fine")
            ),
        ]

        private static func pager(_ message: String) -> String {
            """
            {"sender": "Ops", "message": "\(message)", "timestamp": 1800000000, "isDemo": false, "messageIndex": 0, "totalMessages": 1}
            """
        }

        @Test(
            "a followed subject appears on both phones of a user, shows each state, comes back on a phone whose card died, and goes for good with a swipe",
            arguments: examples
        )
        func life(_ example: Example) async throws {
            try await withPhones(2) { day in
                let path = "/live/\(example.type)/s-1"
                #expect(try await day.server.api.call("PUT", "\(path)/followers/ann").status == 204)
                let made = try await day.put(
                    path,
                    """
                    {"attributes": \(example.attributes), "startAlert": {"title": "New", "body": "It begins"},
                     "contentState": \(example.first)}
                    """
                )
                #expect(made.status == 201, "\(made.text)")
                try await day.shows("both phones show the first state", example.subject, example.first)
                try await eventually("both have posted their tokens") {
                    await day.step()
                    return try await day.active(path) == 2
                }
                #expect(try await day.put(path, #"{"contentState": \#(example.second)}"#).status == 200)
                try await day.shows("both phones show the second state", example.subject, example.second)

                // The system takes a card away without the app: APNs answers 410, and the update itself starts it again.
                await day.phones[0].loseCards()
                #expect(try await day.put(path, #"{"contentState": \#(example.first)}"#).status == 200)
                try await day.shows("the lost card is there again", example.subject, example.first)
                try await eventually("it takes updates again") {
                    await day.step()
                    return try await day.active(path) == 2
                }
                #expect(await day.phones[0].activities.first?.instance == 2)

                await day.phones[1].open(as: "ann")
                await day.phones[1].swipe(example.subject)
                try await eventually("the other phone's card goes as well") {
                    await day.step()
                    return await day.phones[0].activities.isEmpty
                }
                let status = try await day.server.api.get(path)
                #expect(status.json["followers"] as? Int == 0)
                let reasons = status.array("devices").compactMap { $0["endReason"] as? String }
                #expect(reasons == ["user_dismissed", "user_dismissed"])
            }
        }

        @Test("a user follows a football match in the app: cards, list and unfollow on both phones; a type that services follow is refused")
        func followedInTheApp() async throws {
            try await withPhones(2) { day in
                let football = ActivitySubject.custom(attributesType: "FootballActivityAttributes", activityId: "s-1")
                let pager = ActivitySubject.custom(attributesType: "PagerActivityAttributes", activityId: "s-1")
                let example = SubjectPhoneTests.examples[0]
                let (first, second) = (day.phones[0], day.phones[1])
                await first.open(as: "ann")
                await first.follow(football)
                await first.follow(pager)
                #expect(await first.bell(of: football) == .following)
                #expect(await first.bell(of: pager) == .followRefused)
                #expect(await first.followedDevices(of: football).map(\.reason) == ["notLive", "notLive"])
                await first.leave()
                _ = try await day.put(
                    "/live/\(example.subject)",
                    """
                    {"attributes": \(example.attributes), "startAlert": {"title": "New", "body": "It begins"},
                     "contentState": \(example.first)}
                    """
                )
                try await day.shows("both phones show it", example.subject, example.first)
                try await eventually("both have posted their tokens") {
                    await day.step()
                    return try await day.active("/live/\(example.subject)") == 2
                }
                // What a service made her follow is in the list as well.
                #expect(try await day.server.api.call("PUT", "/live/DeliveryActivityAttributes/17/followers/ann").status == 204)
                await second.open(as: "ann")
                #expect(await second.bell(of: football) == .activityRunning)
                #expect(await second.bell(of: .custom(attributesType: "DeliveryActivityAttributes", activityId: "17")) == .following)
                let devices = await second.followedDevices(of: football)
                #expect(devices.map(\.state) == [.shown, .shown] && devices.allSatisfy { $0.receives == .liveActivity && $0.since != nil })
                await second.unfollow(football)
                #expect(await second.bell(of: football) == .notFollowing)
                try await eventually("the other phone's card goes as well") {
                    await day.step()
                    return await first.activities.isEmpty
                }
                await first.open(as: "ann")
                #expect(await first.bell(of: football) == .notFollowing)
            }
        }

        @Test(
            "the demo's scripts run to their ends, and a phone shows each of their states; what is shown at shutdown is ended",
            arguments: ["football", "delivery", "pager"]
        )
        func demo(name: String) async throws {
            let file = URL(fileURLWithPath: ProjectDirectory.root + "/live-activities/demo/\(name).json")
            let script = try SubjectScript(json: Data(contentsOf: file))
            try await withPhones(1) { day in
                let (begin, client) = (
                    Timestamp(seconds: 1_800_000_000), CurlClient(configuration: CurlClientConfiguration())
                )
                func play(_ pause: @escaping @Sendable (SubjectScript.State) async throws -> Void) -> RepeatedSubject {
                    RepeatedSubject(
                        script,
                        followers: ["ann"],
                        url: day.server.api.url,
                        key: RunningServer.bootstrapKey,
                        send: { try await client.send($0) },
                        pause: pause
                    )
                }
                let path = "/live/\(script.type)/demo-\(begin.seconds)"
                let played = try await play { state in
                    try await eventually("the phone shows \(state.body(now: begin).text)") {
                        await day.step()
                        guard let shown = await day.phones[0].activities.first else { return false }
                        guard shown.contentState == state.body(now: begin)["contentState"] else { return false }
                        return state.isFinal ? shown.dismissalAt != nil : try await day.active(path) == 1
                    }
                }.playOnce { begin }
                #expect(played == path)
                let tally = await day.phones[0].tally
                #expect(tally.starts == 1 && tally.updates == script.states.count - 2 && tally.ends == 1)
                #expect(try await day.server.api.get(path).json["phase"] as? String == "ended")

                let shown = AsyncStream<Void>.makeStream()
                let group = ServiceGroup(
                    services: [
                        play { _ in
                            shown.continuation.finish()
                            // Until the shutdown cancels it.
                            try await Task.sleep(for: .seconds(3600))
                        }
                    ],
                    logger: .silent
                )
                async let ended: Void = group.run()
                for await _ in shown.stream {}
                func live() async throws -> [Bool] {
                    try await day.server.api.get("/live").array("subjects").compactMap { $0["live"] as? Bool }
                }
                #expect(try await live() == [true, false])
                await group.triggerGracefulShutdown()
                try await ended
                #expect(try await live() == [false, false])
            }
        }

        @Test("three kill -9 in the middle of a football match with 40 phones: each starts once, and all show the last state")
        func killed() async throws {
            try await withPhones(40) { day in
                var day = day
                let path = "/live/FootballActivityAttributes/s-1"
                let example = SubjectPhoneTests.examples[0]
                for number in 0..<40 {
                    #expect(try await day.server.api.call("PUT", "\(path)/followers/\(number < 2 ? "ann" : "fan-\(number)")").status == 204)
                }
                _ = try await day.put(
                    path,
                    """
                    {"attributes": \(example.attributes), "startAlert": {"title": "New", "body": "It begins"},
                     "contentState": \(example.first)}
                    """
                )
                for death in 1...3 {
                    try await eventually("some starts have left before death \(death)") {
                        await day.step()
                        return day.starts.count >= min(10 * death, 40)
                    }
                    try await day.server.killNow()
                    day.server = try await day.another()
                    let state = example.second.replacing("\"homeGoals\": 1", with: "\"homeGoals\": \(death + 1)")
                    #expect(try await day.put(path, #"{"contentState": \#(state)}"#).status == 200)
                }
                // The leases of the dead processes in the queue, which take a minute.
                try await day.pool.execute("UPDATE pushLeases SET leaseUntil = clock_timestamp()")
                // What an app could not post while the server was away, it posts when it is opened.
                for phone in day.phones { await phone.open() }
                try await eventually("every start has come to an outcome") {
                    await day.step()
                    return try await day.pool.query("SELECT count(*) FROM activityStarts WHERE outcome IS NOT NULL")[0].decode(Int.self)
                        >= 40
                }
                let last = example.second.replacing("\"homeGoals\": 1", with: "\"homeGoals\": 4")
                try await day.shows("all phones show the last state", example.subject, last, except: try await day.unknownStarts())
                let perToken = Dictionary(grouping: day.starts, by: \.token).mapValues(\.count)
                #expect(!perToken.isEmpty && perToken.values.allSatisfy { $0 == 1 }, "a start was sent twice")
            }
        }
    }
}

/// A server, the simulator, and phones whose owners are signed in and have left the app.
private struct PhoneDay: Sendable {
    var server: ServerProcess
    let simulator: ProviderSimulator
    let pool: PostgresPool
    let phones: [SimulatedPhone]
    let another: @Sendable () async throws -> ServerProcess

    func step() async { for phone in phones { await phone.step() } }

    func put(_ path: String, _ body: String) async throws -> API.Answer {
        try await server.api.call("PUT", path, type: "application/json", body: Array(body.utf8))
    }

    var starts: [RecordedRequest] {
        simulator.requests(provider: .apns).filter { $0.status == 200 && $0.body.contains(#""event":"start""#) }
    }

    /// How many devices have an activity that takes updates.
    func active(_ path: String) async throws -> Int? {
        (try await server.api.get(path).json["activities"] as? [String: Any])?["active"] as? Int
    }

    /// Users whose start was under way when its process died: whether it arrived is unknown, and none is sent before its grace.
    func unknownStarts() async throws -> Set<String> {
        let rows = try await pool.query("SELECT deviceId FROM activityStarts WHERE outcome = 'unknown' OR outcome IS NULL")
        return Set(try rows.map { try $0.decode(String.self) })
    }

    func shows(_ what: String, _ subject: String, _ state: String, except: Set<String> = []) async throws {
        let expected = try JSONParser.parse(Array(state.utf8))
        try await eventually(what) {
            await step()
            for phone in phones where !except.contains(await phone.deviceId) {
                let shown = await phone.activities.filter { $0.matchId == subject && $0.dismissalAt == nil }
                guard shown.count == 1, shown.first?.contentState == expected else { return false }
            }
            return true
        }
    }
}

/// A phone's way to whichever server runs.
private final class MovingTransport: PushTransport {
    private let current = Mutex<HTTPPushTransport?>(nil)

    func turn(to transport: HTTPPushTransport) { current.withLock { $0 = transport } }

    func send(_ request: PushRequest) async -> PushResponse? { await current.withLock { $0 }?.send(request) }
}

/// - Parameter count: phones; the first two are Ann's.
private func withPhones(_ count: Int, _ body: (PhoneDay) async throws -> Void) async throws {
    try await withDatabaseURL { database in
        try await withTestDirectory { directory in
            var simulation = SimulatorConfiguration(directory: directory)
            simulation.keptRequests = 100_000
            try await ProviderSimulator.running(simulation) { simulator, endpoints in
                let issuer = try UserIssuer(directory: directory)
                let files = try ProviderFiles(simulator, endpoints, directory: directory)
                let settings = files.apns.merging([
                    "USERS_ISSUER": UserIssuer.issuer, "USERS_JWKS": issuer.jwksPath, "LIVE_STARTS_PER_SECOND": "10",
                ]) { $1 }
                let client = CurlClient(configuration: CurlClientConfiguration())
                let moving = MovingTransport()
                let start: @Sendable () async throws -> ServerProcess = {
                    let server = try await ServerProcess.start(database: database, settings: settings)
                    try await server.waitUntilReady()
                    moving.turn(to: HTTPPushTransport(url: server.api.url, client: client) { uid in try? issuer.token(userId: uid) })
                    return server
                }
                let server = try await start()
                var phones: [SimulatedPhone] = []
                for number in 0..<count {
                    var setup = SimulatedPhone.Setup(name: "fan-\(number)")
                    setup.behaviour.tapsAllowAfter = .milliseconds(100)
                    let phone = SimulatedPhone(setup, transport: PhoneTransport(moving), simulator: simulator)
                    await phone.open(as: number < 2 ? "ann" : "fan-\(number)")
                    await phone.step()
                    await phone.leave()
                    phones.append(phone)
                }
                let known = phones
                try await withPool(database) { pool in
                    try await body(PhoneDay(server: server, simulator: simulator, pool: pool, phones: known, another: start))
                }
            }
        }
    }
}
