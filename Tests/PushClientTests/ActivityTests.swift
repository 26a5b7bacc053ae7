import Foundation
import PushClient
import PushContract
import Testing

@Suite("Activities on a device")
struct ActivityTests {
    private let start = Timestamp(seconds: 1_000_000)

    private func activity(_ id: String, match: String = "m1", instance: Int? = 1) -> SystemActivity {
        SystemActivity(activityId: id, matchId: match, instance: instance)
    }

    @Test("L-18: activities that a push started are adopted, those of before a relaunch restored, and the vanished reported")
    func restores() {
        var manager = LifecycleManager()
        #expect(manager.adopt(activity("a"), now: start).isEmpty)
        #expect(manager.adopt(activity("a"), now: start).isEmpty)
        let steps = manager.restore([activity("b", match: "m2")], now: start + .seconds(60))
        #expect(steps == [.report(matchId: "m1", instance: 1, .system)])
        #expect(manager.tracked.map(\.activityId) == ["b"])
        #expect(manager.isActive("m2") && !manager.isActive("m1"))
    }

    @Test("L-18: half an hour without an update ends an activity, reported as stale and not as a swipe")
    func stale() {
        var manager = LifecycleManager()
        _ = manager.adopt(activity("a"), now: start)
        manager.updated("a", now: start + .seconds(600))
        #expect(manager.check(now: start + .seconds(2399)).isEmpty)
        #expect(manager.check(now: start + .seconds(2400)) == [.end(activityId: "a")])
        #expect(manager.check(now: start + .seconds(2401)).isEmpty)
        #expect(manager.gone("a", isDismissed: true) == [.report(matchId: "m1", instance: 1, .stale)])
    }

    @Test("L-10: a swipe is an unfollow; the app's own end, though it looks the same, is none")
    func swipe() {
        var manager = LifecycleManager()
        _ = manager.adopt(activity("a"), now: start)
        #expect(manager.gone("a", isDismissed: true) == [.report(matchId: "m1", instance: 1, .user), .unfollow(matchId: "m1")])
        _ = manager.adopt(activity("b"), now: start)
        #expect(manager.end("b", cause: .system) == [.end(activityId: "b")])
        #expect(manager.gone("b", isDismissed: true) == [.report(matchId: "m1", instance: 1, .system)])
    }

    @Test("an activity that a push or its age ended is no swipe either")
    func ended() {
        var manager = LifecycleManager()
        _ = manager.adopt(activity("a"), now: start)
        #expect(manager.gone("a", isDismissed: false) == [.report(matchId: "m1", instance: 1, .system)])
    }

    @Test("a replacement is adopted first, and then the older one of the match ends")
    func replacement() {
        var manager = LifecycleManager()
        _ = manager.adopt(activity("a"), now: start)
        _ = manager.adopt(activity("other", match: "m2"), now: start)
        #expect(manager.adopt(activity("b", instance: 2), now: start) == [.end(activityId: "a")])
        #expect(manager.isActive("m1"))
        #expect(manager.gone("a", isDismissed: true) == [.report(matchId: "m1", instance: 1, .system)])
    }

    private func hash(_ number: Int) throws -> TokenHash { try TokenHash.apns(String(repeating: "0", count: 60) + "\(1000 + number)") }

    private func confirmed(_ kind: OperationKind, _ hash: TokenHash) -> PendingOperation? {
        var queue = PendingOperations()
        _ = queue.enqueue(kind, uid: "u", tokenHash: hash, operationId: "op", now: start)
        _ = queue.take(now: start) { _ in true }
        guard case .success(let operation) = queue.settle("op", .answered(status: 200), now: start) else { return nil }
        return operation
    }

    @Test("L-13 L-17: a token is posted when it is new, not when it is the one the server has, and again after a rotation")
    func dedupes() throws {
        var manager = TokenManager()
        let kind = OperationKind.activityToken(matchId: "m1", instance: 1)
        #expect(manager.updateToken(try hash(1), matchId: "m1", instance: 1) != nil)
        manager.confirmed(try #require(confirmed(kind, try hash(1))))
        #expect(manager.updateToken(try hash(1), matchId: "m1", instance: 1) == nil)
        #expect(manager.updateToken(try hash(2), matchId: "m1", instance: 1)?.kind == kind)
        #expect(manager.updateToken(try hash(1), matchId: "m2", instance: 1) != nil)
        manager.forget(matchId: "m1")
        #expect(manager.updateToken(try hash(1), matchId: "m1", instance: 2) != nil)
    }

    @Test("P-2.3: a start token is sent only when Live Activities are allowed and somebody is signed in")
    func startToken() throws {
        var manager = TokenManager()
        #expect(manager.startToken(try hash(1), uid: "u", isAllowed: false) == nil)
        #expect(manager.startToken(try hash(1), uid: nil, isAllowed: true) == nil)
        #expect(manager.startToken(try hash(1), uid: "u", isAllowed: true)?.kind == .startToken())
        manager.confirmed(try #require(confirmed(.startToken(), try hash(1))))
        #expect(manager.startToken(try hash(1), uid: "u", isAllowed: true) == nil)
        #expect(manager.startToken(try hash(1), uid: "v", isAllowed: true) != nil)
        #expect(manager.startToken(try hash(2), uid: "u", isAllowed: true) != nil)
        manager.updateFromServer(startToken: try hash(1))
        #expect(manager.startToken(try hash(1), uid: "u", isAllowed: true) == nil)
        manager.updateFromServer(startToken: nil)
        #expect(manager.startToken(try hash(1), uid: "u", isAllowed: true) != nil)
    }

    @Test("C-08: each attributes type has a start token of its own, sent when it is new and again when the server has another")
    func typedStartTokens() throws {
        var manager = TokenManager()
        func submission(_ number: Int, _ type: String?, uid: String = "u") throws -> OperationKind? {
            manager.startToken(try hash(number), attributesType: type, uid: uid, isAllowed: true)?.kind
        }
        #expect(try submission(1, "Match") == .startToken(attributesType: "Match"))
        manager.confirmed(try #require(confirmed(.startToken(attributesType: "Match"), try hash(1))))
        #expect(try submission(1, "Match") == nil)
        #expect(try submission(2, "Pager") == .startToken(attributesType: "Pager"), "another type's token is another token")
        #expect(try submission(1, nil) == .startToken(), "and so is the one of no type")
        manager.confirmed(try #require(confirmed(.startToken(attributesType: "Pager"), try hash(2))))
        manager.updateFromServer(startToken: nil, ofTypes: ["Match": try hash(1), "Pager": try hash(9)])
        #expect(try submission(1, "Match") == nil)
        #expect(try submission(2, "Pager") != nil)
        #expect(try submission(1, "Match", uid: "v") != nil)
        let restored = try JSONDecoder().decode(TokenManager.self, from: Data(#"{"updateTokens": {}}"#.utf8))
        #expect(restored == TokenManager(), "what an older version stored can be read")
        var queue = PendingOperations()
        let tokens: [(String, OperationKind, Int)] = [
            ("1", .startToken(attributesType: "Match"), 1), ("2", .startToken(), 1), ("3", .startToken(attributesType: "Match"), 2),
        ]
        for (id, kind, number) in tokens {
            _ = queue.enqueue(kind, uid: "u", tokenHash: try hash(number), operationId: id, now: start)
        }
        #expect(queue.operations.map(\.operationId) == ["2", "3"], "a newer token takes the place of its own type's")
        let old = try JSONDecoder().decode(OperationKind.self, from: Data(#"{"startToken": {}}"#.utf8))
        #expect(old == .startToken())
    }

    @Test(
        "P-2.4: start tokens exist from iOS 17.2 on, and on no other platform",
        arguments: [("17.2", true), ("18.0.1", true), ("17.1", false), ("16.7", false), ("", false)]
    )
    func systems(version: String, has: Bool) {
        #expect(PushDevice(deviceId: "d", app: "a", osVersion: version, appVersion: "1").hasStartTokens == has)
        #expect(!PushDevice(deviceId: "d", platform: .android, app: "a", osVersion: version, appVersion: "1").hasStartTokens)
    }

    @Test("L-19: follows are shown at once, and a second tap changes nothing")
    func follows() {
        var manager = FollowManager()
        #expect(manager.follow("m1") == .follow(matchId: "m1"))
        #expect(manager.follow("m1") == nil)
        #expect(manager.matchIds == ["m1"])
        #expect(manager.unfollow("m1") == .unfollow(matchId: "m1"))
        #expect(manager.unfollow("m1") == nil)
    }
}
