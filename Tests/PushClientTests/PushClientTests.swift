import Foundation
import PushClient
import PushContract
import Synchronization
import Testing

@Suite("The client")
struct PushClientTests {
    private let token = String(repeating: "ab", count: 32)
    private let startToken = String(repeating: "cd", count: 80)

    @Test("T-19: what the client keeps on disk holds hashes and never a token")
    func noTokenOnDisk() async throws {
        let (bench, client) = await ClientBench.signedIn()
        await client.pushTokenReceived(token)
        await client.startTokenReceived(startToken)
        let hash = try TokenHash.apns(token).rawValue
        let refused = #"{"pushToken": {"tokenHash": "\#(hash)", "state": "inactive", "reasonCode": "token_not_registered"}}"#
        bench.transport.answer = { $0.method == "GET" ? PushResponse(status: 200, body: Array(refused.utf8)) : ClientBench.registered($0) }
        await client.foreground()
        #expect(bench.transport.sent.contains { $0.method == "DELETE" && $0.path == "/devices/\(hash)" })
        bench.transport.answer = { _ in nil }
        await client.pushTokenReceived(String(repeating: "ef", count: 32))
        let text = String(decoding: bench.storage.load() ?? [], as: UTF8.self)
        #expect(text.contains("sha256:"))
        for raw in [token, startToken, String(repeating: "ef", count: 32)] { #expect(!text.contains(raw)) }
        #expect(bench.transport.sent.allSatisfy { !$0.path.contains(token) && !$0.requestId.contains(token) })
    }

    @Test("T-08: an operation that waited survives a restart and is tried again with the same request id")
    func survivesRestart() async {
        let bench = ClientBench()
        bench.transport.answer = { _ in nil }
        let first = bench.client()
        await first.launch()
        await first.signedIn(uid: "ann")
        await first.pushTokenReceived(token)
        let id = bench.transport.sent.last { $0.method == "POST" }?.requestId
        bench.transport.answer = { _ in PushResponse(status: 200, body: Array(#"{"unregisterSecret": "pwd_x"}"#.utf8)) }
        let second = bench.client()
        await second.launch()
        await second.signedIn(uid: "ann")
        // The raw token is not on disk: the try waits for the system's callback.
        func posts() -> [PushRequest] { bench.transport.sent.filter { $0.method == "POST" } }
        #expect(posts().count == 1)
        await second.pushTokenReceived(token)
        #expect(posts().count == 2 && posts().last?.requestId == id)
        #expect(await second.operations.isEmpty)
        #expect(bench.storage.secret(of: "ann") == "pwd_x")
    }

    @Test("signing out offline unregisters later with the device's secret, also after another user signed in")
    func signOutOffline() async {
        let (bench, client) = await ClientBench.signedIn()
        await client.pushTokenReceived(token)
        bench.transport.answer = { _ in nil }
        await client.signOut()
        #expect(await client.operations.map(\.kind) == [.unregister()])
        bench.transport.answer = ClientBench.registered
        await client.signedIn(uid: "bob")
        let calls = bench.transport.sent.filter { $0.method != "GET" }.suffix(2)
        #expect(calls.map(\.method) == ["DELETE", "POST"])
        #expect(calls.first?.credential == .secret("pwd_secret") && calls.last?.credential == .session(uid: "bob"))
        #expect(await client.operations.isEmpty)
    }

    @Test("on the foreground the client asks the server for its tokens' states, and starts over when the provider gave the token back")
    func providerInvalidation() async throws {
        let (bench, client) = await ClientBench.signedIn()
        await client.pushTokenReceived(token)
        let hash = try TokenHash.apns(token)
        bench.transport.answer = { request in
            guard request.method == "GET" else { return ClientBench.registered(request) }
            let body = #"{"pushToken": {"tokenHash": "\#(hash)", "state": "inactive", "reasonCode": "token_not_registered"}, "new": 1}"#
            return PushResponse(status: 200, body: Array(body.utf8))
        }
        let before = bench.transport.sent.count
        await client.foreground()
        #expect(
            bench.transport.sent.dropFirst(before).map { "\($0.method) \($0.path)" } == [
                "GET /devices/device", "DELETE /devices/\(hash)", "GET /user/follow",
            ]
        )
        #expect(bench.system.now.asked == 2)
        let other = String(repeating: "ef", count: 32)
        bench.transport.answer = { ClientBench.registered($0) }
        await client.pushTokenReceived(other)
        #expect(bench.transport.sent.last.map { "\($0.method) \($0.path)" } == "POST /devices")
    }

    @Test("a stream that is silent is no reason to clear: the property is read, and without a value nothing is sent")
    func silentStream() async throws {
        let (bench, client) = await ClientBench.signedIn()
        await client.pushTokenReceived(token)
        #expect(!bench.transport.sent.contains { $0.path.hasSuffix("push-to-start-token") })
        bench.system.now.startToken = startToken
        let hash = try TokenHash.apns(startToken)
        bench.transport.answer = { request in
            guard request.method == "GET" else { return ClientBench.registered(request) }
            return PushResponse(status: 200, body: Array(#"{"pushToStartToken": {"tokenHash": "\#(hash)", "state": "active"}}"#.utf8))
        }
        await client.foreground()
        #expect(bench.transport.sent.filter { $0.path.hasSuffix("push-to-start-token") }.count == 1)
        await client.foreground()
        #expect(bench.transport.sent.filter { $0.path.hasSuffix("push-to-start-token") }.count == 1)
    }

    @Test("P-2.1: the client posts the start token that ActivityKit provided, never the push token")
    func startTokenIsNoPushToken() async {
        let (bench, client) = await ClientBench.signedIn()
        await client.pushTokenReceived(token)
        func posted(to path: String) -> [String] {
            bench.transport.sent.filter { $0.path == path }.map { String(decoding: $0.body ?? [], as: UTF8.self) }
        }
        await client.foreground()
        #expect(posted(to: "/devices/push-to-start-token").isEmpty)
        await client.startTokenReceived(startToken)
        #expect(posted(to: "/devices/push-to-start-token").map { $0.contains(startToken) && !$0.contains(token) } == [true])
        #expect(posted(to: "/devices").map { $0.contains(token) && !$0.contains(startToken) } == [true])
    }

    @Test("C-08: the start token of each attributes type is posted with its name, and posted again when the server has another")
    func typedStartTokens() async throws {
        let (bench, client) = await ClientBench.signedIn()
        await client.pushTokenReceived(token)
        let other = String(startToken.reversed())
        bench.system.now.startTokens = ["MatchActivityAttributes": startToken, "PagerActivityAttributes": other]
        await client.foreground()
        func posted() -> [String] {
            bench.transport.sent.filter { $0.path == "/devices/push-to-start-token" }.compactMap { request in
                let body = try? JSONSerialization.jsonObject(with: Data(request.body ?? [])) as? [String: String]
                return body.map { "\($0["attributesType"] ?? "-") \($0["pushToStartToken"] ?? "-")" }
            }
        }
        let both = ["MatchActivityAttributes \(startToken)", "PagerActivityAttributes \(other)"]
        #expect(posted() == both)
        let hash = try TokenHash.apns(startToken)
        bench.transport.answer = { request in
            guard request.method == "GET" else { return ClientBench.registered(request) }
            let tokens = #"{"MatchActivityAttributes": {"tokenHash": "\#(hash)", "state": "active"}}"#
            return PushResponse(status: 200, body: Array(#"{"pushToStartTokens": \#(tokens)}"#.utf8))
        }
        await client.foreground()
        #expect(posted() == both + both.suffix(1), "the server has lost the pager's")
        await client.startTokenReceived(startToken, attributesType: "MatchActivityAttributes")
        #expect(posted().count == 3)
        let rotated = String(repeating: "ce", count: 80)
        await client.startTokenReceived(rotated, attributesType: "MatchActivityAttributes")
        #expect(posted().last == "MatchActivityAttributes \(rotated)" && posted().count == 4)
    }

    @Test("L-20: an unfollow made offline is retried at the next launch")
    func pendingUnfollow() async {
        let (bench, client) = await ClientBench.signedIn()
        await client.follow("m1")
        bench.transport.answer = { _ in nil }
        await client.unfollow("m1")
        #expect(await client.followButton(of: "m1") == .unfollowWaiting)
        bench.transport.answer = { _ in PushResponse(status: 204) }
        let next = bench.client()
        await next.launch()
        await next.signedIn(uid: "ann")
        #expect(bench.transport.sent.last { $0.method != "GET" }.map { "\($0.method) \($0.path)" } == "DELETE /user/follow/match/m1")
        #expect(await next.operations.isEmpty)
        #expect(await next.followButton(of: "m1") == .notFollowing)
    }

    @Test("L-19: followed matches are there at once after a relaunch")
    func followsPersist() async {
        let bench = ClientBench()
        let client = bench.client()
        await client.signedIn(uid: "ann")
        await client.follow("m1")
        #expect(await bench.client().followedMatches == ["m1"])
    }

    @Test("L-15 G-04: an activity's token is tried again on the schedule until the server has it")
    func activityTokenRetries() async {
        let (bench, client) = await ClientBench.signedIn()
        bench.transport.answer = { _ in nil }
        await client.activityAppeared(SystemActivity(activityId: "a", subject: .match("m1"), instance: 2, updateToken: token))
        #expect(bench.transport.sent.last?.path == "/matches/m1/activity-token")
        let tries = bench.transport.sent.count
        await client.work()
        #expect(bench.transport.sent.count == tries)
        bench.transport.answer = { _ in PushResponse(status: 200) }
        bench.advance(by: 5)
        await client.work()
        #expect(bench.transport.sent.count == tries + 1)
        let body = String(decoding: bench.transport.sent.last?.body ?? [], as: UTF8.self)
        #expect(body.contains(#""instance":2"#))
        #expect(await client.operations.isEmpty)
    }

    @Test("a token of an activity that the server has ended ends the activity on the device")
    func lateToken() async {
        let (bench, client) = await ClientBench.signedIn()
        bench.transport.answer = { _ in PushResponse(status: 409, body: Array(#"{"code": "activity_ended"}"#.utf8)) }
        await client.activityAppeared(SystemActivity(activityId: "a", subject: .match("m1"), instance: 1, updateToken: token))
        #expect(bench.system.now.ended == ["a"])
        #expect(await client.operations.isEmpty)
    }

    @Test("state that cannot be read counts as none, and is reported")
    func damagedState() async {
        let bench = ClientBench()
        bench.storage.save(Array("{broken".utf8))
        let client = bench.client()
        await client.launch()
        #expect(await client.operations.isEmpty)
        #expect(bench.events == [.stateUnreadable])
    }

    @Test("failures reach the callback with the operation, its attempt, status, code and reason, and with no token")
    func failures() async throws {
        let (bench, client) = await ClientBench.signedIn()
        bench.transport.answer = { _ in PushResponse(status: 403, body: Array(#"{"code": "forbidden"}"#.utf8)) }
        await client.pushTokenReceived(token)
        guard case .attemptFailed(let operation, let status, let code, let reason)? = bench.events.first else {
            Issue.record("no failure was reported: \(bench.events)")
            return
        }
        #expect(operation.kind == .register && status == 403 && code == "forbidden" && reason == .auth)
        guard case .needsAttention(let refused)? = bench.events.last else {
            Issue.record("nothing needs attention: \(bench.events)")
            return
        }
        #expect(refused.operationId == operation.operationId)
        let line = "attempt failed: register \(operation.operationId), attempt 1, status 403, code forbidden, reason auth"
        #expect(bench.events.map(\.description) == [line, "operation needs attention: register \(operation.operationId)"])
        await client.pushTokenReceived("not a token")
        #expect(bench.events.last == .tokenMalformed)
        await client.foreground()
        #expect(bench.events.contains(.readFailed(path: "/user/follow", status: 403)))
        #expect(!bench.events.contains { $0.description.contains(token) })
    }

    @Test("a state that cannot be stored is reported")
    func unsavedState() async {
        struct FullDisk: PushStorage {
            struct Failure: Error {}
            func load() -> [UInt8]? { nil }
            func save(_ bytes: [UInt8]) throws { throw Failure() }
        }
        let events = Mutex(0)
        let client = PushwatchClient(
            device: PushDevice(deviceId: "device", app: "a", osVersion: "18.2", appVersion: "1"),
            system: ScriptedSystem(),
            transport: ScriptedTransport(),
            storage: FullDisk(),
            secrets: MemoryStorage(),
            events: { event in if case .stateNotSaved = event { events.withLock { $0 += 1 } } }
        )
        await client.launch()
        #expect(events.withLock { $0 } > 0)
    }

    @Test("a stored state that cannot be read yet, as before the first unlock, is not replaced, and is loaded later")
    func lockedState() async {
        final class LockedStorage: PushStorage {
            struct Failure: Error {}
            let storage: MemoryStorage
            let isLocked = Mutex(true)

            init(_ storage: MemoryStorage) { self.storage = storage }

            func load() throws -> [UInt8]? {
                if isLocked.withLock({ $0 }) { throw Failure() }
                return storage.load()
            }

            func save(_ bytes: [UInt8]) { storage.save(bytes) }
        }
        let bench = ClientBench()
        bench.transport.answer = { _ in nil }
        let first = bench.client()
        await first.launch()
        await first.signedIn(uid: "ann")
        await first.pushTokenReceived(token)
        await first.follow("m1")
        let (waiting, stored) = (await first.operations.map(\.operationId), bench.storage.load())
        #expect(waiting.count == 2)

        let storage = LockedStorage(bench.storage)
        let failures = Mutex(0)
        let client = PushwatchClient(
            device: PushDevice(deviceId: "device", app: "a", osVersion: "18.2", appVersion: "1"),
            system: bench.system,
            transport: bench.transport,
            storage: storage,
            secrets: bench.storage,
            now: { bench.now },
            events: { event in if case .stateNotLoaded = event { failures.withLock { $0 += 1 } } }
        )
        await client.launch()
        await client.pushTokenReceived(token)
        #expect(failures.withLock { $0 } == 1 && bench.storage.load() == stored)
        storage.isLocked.withLock { $0 = false }
        await client.foreground()
        #expect(await client.operations.map(\.operationId) == waiting)
        #expect(await client.followedMatches == ["m1"])
        bench.transport.answer = { ClientBench.registered($0) }
        await client.signedIn(uid: "ann")
        await client.connectivityRestored()
        #expect(await client.operations.isEmpty && bench.storage.load() != stored)
    }

    @Test("an answer that asks to wait for ever is asked again after a day")
    func longestRetryAfter() async {
        let bench = ClientBench()
        bench.transport.answer = { _ in PushResponse(status: 503, retryAfter: .max) }
        let client = bench.client()
        await client.launch()
        await client.signedIn(uid: "ann")
        await client.follow("m1")
        #expect(await client.nextWork == bench.now + .seconds(86_400))
    }

    @Test("L-21c: while a follow or an unfollow is under way, the bell is pending")
    func pending() async {
        let (bench, client) = await ClientBench.signedIn()
        let seen = Mutex<[FollowButton]>([])
        bench.transport.whileAnswering = { request in
            guard request.path != "/devices", ["POST", "DELETE"].contains(request.method) else { return }
            let button = await client.followButton(of: "m1")
            seen.withLock { $0.append(button) }
        }
        await client.follow("m1")
        #expect(await client.followButton(of: "m1") != .pending)
        await client.unfollow("m1")
        #expect(await client.followButton(of: "m1") != .pending)
        #expect(seen.withLock { $0 } == [.pending, .pending])
    }

    @Test("a list of follows that was made before the user's last tap is not taken over")
    func lateList() async {
        let (bench, client) = await ClientBench.signedIn()
        bench.transport.whileAnswering = { request in
            if request.method == "GET", request.path == "/user/follow" { await client.follow("m1") }
        }
        bench.transport.answer = { request in
            request.path == "/user/follow" && request.method == "GET"
                ? PushResponse(status: 200, body: Array(#"{"follows": [{"type": "MatchActivityAttributes", "id": "m2"}]}"#.utf8))
                : ClientBench.registered(request)
        }
        await client.foreground()
        #expect(await client.followedMatches == ["m1"])
        await client.foreground()
        #expect(await client.followedMatches == ["m2"])
    }

    @Test("what apps link runs from iOS 16.2: the package says so, and nothing of it imports Synchronization")
    func platforms() throws {
        let package = try String(contentsOf: VectorFile.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        #expect(package.contains(#".iOS("16.2")"#) && package.contains(".macOS(.v15)"))
        var checked = 0
        for target in ["PushContract", "PushClient"] {
            let files = FileManager.default.enumerator(
                at: VectorFile.root.appendingPathComponent("Sources/\(target)").resolvingSymlinksInPath(),
                includingPropertiesForKeys: nil
            )
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                checked += 1
                #expect(try !String(contentsOf: file, encoding: .utf8).contains("import Synchronization"), "\(file.lastPathComponent)")
            }
        }
        #expect(checked > 30)
    }

    @Test("a file keeps the state as a whole")
    func file() throws {
        let path = NSTemporaryDirectory() + "/push-state-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let storage = FileStorage(path: path)
        #expect(try storage.load() == nil)
        try storage.save([1, 2, 3])
        try storage.save([4])
        #expect(try storage.load() == [4])
        // Something is there and cannot be read.
        #expect(throws: CocoaError.self) { try FileStorage(path: NSTemporaryDirectory()).load() }
    }
}
