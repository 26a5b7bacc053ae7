import Foundation
import Logging
import PushClient
import PushContract
import ServiceKit
import Synchronization
import Testing

@testable import ProviderSimulator

@Suite("Simulated phones")
struct SimulatedPhoneTests {
    @Test("a push that updates a card does not wake the app, and a card that pushes kept fresh outlives 31 minutes in the background")
    func suspended() async throws {
        let bench = try PhoneBench()
        await bench.follow()
        await bench.push(bench.start())
        bench.advance(by: 10)
        await bench.phone.step()
        let token = try #require(await bench.phone.activities.first?.updateToken)
        #expect(bench.calls("POST /matches/m1/activity-token") == 1, "the tap on Allow wakes the app")
        let before = bench.server.sent.count
        for _ in 0..<4 {
            bench.advance(by: 600)
            await bench.push(bench.update(token))
        }
        #expect(bench.server.sent.count == before, "the app was suspended throughout")
        #expect(await bench.phone.activities.first?.updates == 4)
        await bench.phone.open()
        #expect(await bench.phone.activities.count == 1)
        #expect(await bench.phone.bell(of: "m1") == .activityRunning)
        #expect(bench.calls("POST /matches/m1/activity-dismissed") == 0)
    }

    @Test("a card without pushes for half an hour is ended when the app is opened, not before")
    func stale() async throws {
        let bench = try PhoneBench()
        await bench.follow()
        await bench.push(bench.start())
        bench.advance(by: 1860)
        await bench.phone.step()
        #expect(await bench.phone.activities.count == 1)
        await bench.phone.open()
        #expect(await bench.phone.activities.isEmpty)
        #expect(bench.body("POST /matches/m1/activity-dismissed")?["cause"]?.string == "stale")
    }

    @Test("a swipe reaches a suspended app when it is opened, and is an unfollow")
    func swipe() async throws {
        let bench = try PhoneBench()
        await bench.follow()
        await bench.push(bench.start())
        await bench.phone.swipe("m1")
        #expect(bench.calls("POST /matches/m1/activity-dismissed") == 0)
        #expect(await bench.phone.activities.isEmpty)
        await bench.phone.open()
        #expect(bench.body("POST /matches/m1/activity-dismissed")?["cause"]?.string == "user")
        #expect(await bench.phone.followed.isEmpty)
    }

    @Test("a suspended app retries nothing; a push that starts a card wakes it, and what was due leaves")
    func wakes() async throws {
        let bench = try PhoneBench()
        await bench.follow()
        await bench.phone.open()
        await bench.phone.setOnline(false)
        await bench.phone.unfollow("m2")
        await bench.phone.leave()
        await bench.phone.setOnline(true)
        bench.advance(by: 100)
        await bench.phone.step()
        #expect(bench.calls("DELETE /user/follow/match/m2") == 0)
        await bench.push(bench.start())
        #expect(bench.calls("DELETE /user/follow/match/m2") == 1)
    }

    @Test("an app in the foreground starts the card of a live match itself, and posts its token without a tap on Allow")
    func startsHere() async throws {
        let bench = try PhoneBench()
        await bench.phone.open(as: "ann")
        bench.server.answer("POST /user/follow/match", bench.live)
        await bench.phone.follow("m1", startsHere: true)
        #expect(bench.body("POST /user/follow/match")?["startsHere"]?.bool == true)
        #expect(bench.calls("POST /matches/m1/activity-token") == 1)
        #expect(await bench.phone.activities.map(\.matchId) == ["m1"])
        #expect(await bench.phone.bell(of: "m1") == .activityRunning)
    }
}

/// A phone, a scripted server and a clock.
private final class PhoneBench: Sendable {
    let phone: SimulatedPhone
    let server = PhoneServer()
    private let clock: PhoneClock

    init() throws {
        var configuration = SimulatorConfiguration(directory: "/nonexistent")
        configuration.credentials = try credentials()
        let clock = PhoneClock()
        self.clock = clock
        phone = SimulatedPhone(
            SimulatedPhone.Setup(name: "ann"),
            transport: PhoneTransport(server),
            simulator: try ProviderSimulator(
                configuration: configuration,
                logger: Logger(label: "phones") { _ in SwiftLogNoOpLogHandler() }
            ),
            now: { clock.now }
        )
    }

    func advance(by seconds: Int64) { clock.advance(by: seconds) }

    /// Ann follows a match and leaves the app.
    func follow() async {
        await phone.open(as: "ann")
        await phone.follow("m1")
        await phone.leave()
    }

    func push(_ push: RecordedRequest) async {
        await phone.mailbox.put(push)
        await phone.step()
    }

    func start() -> RecordedRequest {
        request(#""event": "start", "attributes-type": "MatchActivityAttributes", "attributes": {"matchId": "m1", "instance": 1}"#)
    }

    func update(_ token: String) -> RecordedRequest { request(#""event": "update""#, token: token) }

    private func request(_ members: String, token: String? = nil) -> RecordedRequest {
        let aps = "\(members), \"timestamp\": \(clock.now.seconds), \"content-state\": {\"updatedAt\": \(clock.now.seconds)}"
        return RecordedRequest(
            number: 1,
            at: clock.now,
            provider: .apns,
            connection: "",
            method: "POST",
            path: "",
            token: token,
            headers: [.init("apns-push-type", "liveactivity")],
            body: "{\"aps\": {\(aps)}}",
            answerHeaders: [],
            answerBody: "",
            fault: false
        )
    }

    /// The answer to a follow of a live match.
    var live: String {
        let state = UnifiedDisplayState(matchId: "m1", seq: 1, phase: "live", title: "A v B", status: "", updatedAt: clock.now.seconds)
        let text = (try? JSONEncoder().encode(state)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return "{\"matchId\": \"m1\", \"following\": true, \"phase\": \"live\", \"displayState\": \(text)}"
    }

    func calls(_ request: String) -> Int { server.sent.filter { "\($0.method) \($0.path)" == request }.count }

    func body(_ request: String) -> JSONValue? {
        server.sent.last { "\($0.method) \($0.path)" == request }?.body.flatMap { JSONValue(bytes: $0) }
    }
}

private final class PhoneClock: Sendable {
    private let moment = Mutex(noon)
    var now: Timestamp { moment.withLock { $0 } }
    func advance(by seconds: Int64) { moment.withLock { $0 = $0 + .seconds(seconds) } }
}

/// Answers 200 to everything but reads of the device and the follows.
private final class PhoneServer: PushTransport {
    private let calls = Mutex<[PushRequest]>([])
    private let bodies = Mutex<[String: String]>([:])

    var sent: [PushRequest] { calls.withLock { $0 } }

    func answer(_ request: String, _ body: String) { bodies.withLock { $0[request] = body } }

    func send(_ request: PushRequest) async -> PushResponse? {
        calls.withLock { $0.append(request) }
        if request.method == "GET" { return PushResponse(status: 503) }
        let body = bodies.withLock { $0["\(request.method) \(request.path)"] } ?? "{}"
        return PushResponse(status: 200, body: Array(body.utf8))
    }
}
