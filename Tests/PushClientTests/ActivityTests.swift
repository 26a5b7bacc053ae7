import Foundation
import PushClient
import PushContract
import Testing

@Suite("Activities on a device")
struct ActivityTests {
    private let start = Timestamp(seconds: 1_000_000)

    private func activity(_ id: String, match: String = "m1", instance: Int? = 1, contentDate: Timestamp? = nil) -> SystemActivity {
        SystemActivity(activityId: id, subject: .match(match), instance: instance, contentDate: contentDate)
    }

    @Test("L-18: activities that a push started are adopted, those of before a relaunch restored, and the vanished reported")
    func restores() {
        var manager = LifecycleManager()
        #expect(manager.adopt(activity("a"), now: start).isEmpty)
        #expect(manager.adopt(activity("a"), now: start).isEmpty)
        let steps = manager.restore([activity("b", match: "m2")], now: start + .seconds(60))
        #expect(steps == [.report(.match("m1"), instance: 1, .system)])
        #expect(manager.tracked.map(\.activityId) == ["b"])
        #expect(manager.isActive(.match("m2")) && !manager.isActive(.match("m1")))
        #expect(manager.restore([activity("b", match: "m2")], now: start + .seconds(120)).isEmpty)
        #expect(manager.tracked.map(\.adoptedAt) == [start + .seconds(60)], "restored, not adopted again")
    }

    @Test("L-18: content older than half an hour ends an activity, reported as stale and not as a swipe")
    func stale() {
        var manager = LifecycleManager()
        let shown = activity("a", contentDate: start)
        #expect(manager.check([shown], now: start + .seconds(1799)).isEmpty)
        #expect(manager.check([shown], now: start + .seconds(1800)) == [.end(activityId: "a")])
        #expect(manager.check([shown], now: start + .seconds(1801)).isEmpty)
        #expect(manager.gone("a", isDismissed: true) == [.report(.match("m1"), instance: 1, .stale)])
    }

    @Test("L-18: an activity that pushes kept up to date is not stale, however long the app was suspended")
    func fresh() {
        var manager = LifecycleManager()
        _ = manager.adopt(activity("a", contentDate: start), now: start)
        #expect(manager.check([activity("a", contentDate: start + .seconds(1800))], now: start + .seconds(1860)).isEmpty)
        #expect(manager.check([activity("a")], now: start + .seconds(9000)).isEmpty, "content without a date is not judged")
    }

    @Test("L-10: a swipe is an unfollow; the app's own end, though it looks the same, is none")
    func swipe() {
        var manager = LifecycleManager()
        _ = manager.adopt(activity("a"), now: start)
        #expect(manager.gone("a", isDismissed: true) == [.report(.match("m1"), instance: 1, .user), .unfollow(.match("m1"))])
        _ = manager.adopt(activity("b"), now: start)
        #expect(manager.end("b", cause: .system) == [.end(activityId: "b")])
        #expect(manager.gone("b", isDismissed: true) == [.report(.match("m1"), instance: 1, .system)])
    }

    @Test("L-10: a card that is missing at a launch was swiped away, unless its age, a restart of the device or the app explains it")
    func missing() throws {
        let swiped = [LifecycleManager.Step.report(.match("m1"), instance: 1, .user), .unfollow(.match("m1"))]
        let gone = [LifecycleManager.Step.report(.match("m1"), instance: 1, .system)]
        var manager = LifecycleManager()
        _ = manager.adopt(activity("a"), now: start)
        func launch(after seconds: Int, boot: Timestamp?, _ manager: LifecycleManager) -> [LifecycleManager.Step] {
            var relaunched = manager
            return relaunched.restore([], now: start + .seconds(seconds), boot: boot)
        }
        #expect(launch(after: 60, boot: start - .seconds(60), manager) == swiped)
        #expect(launch(after: 60, boot: nil, manager) == gone, "it is not known whether the device was restarted")
        #expect(launch(after: 60, boot: start, manager) == swiped)
        #expect(launch(after: 60, boot: start + .seconds(1), manager) == gone, "the device was restarted")
        #expect(launch(after: 28_799, boot: start, manager) == swiped)
        #expect(launch(after: 28_800, boot: start, manager) == gone, "the system removes what is 8 hours old")
        #expect(launch(after: -1, boot: start - .seconds(60), manager) == gone, "the clock was set back")
        var seen = manager
        _ = seen.check([activity("a")], now: start + .seconds(30))
        #expect(launch(after: 60, boot: start + .seconds(30), seen) == swiped, "it was seen after the restart")
        var ended = manager
        _ = ended.end("a", cause: .stale)
        #expect(launch(after: 60, boot: start, ended) == [.report(.match("m1"), instance: 1, .stale)])
        let stored = """
            {"tracked": [{"activityId": "a", "subject": {"match": {"_0": "m1"}}, "instance": 1, "adoptedAt": "\(start.rfc3339)"}]}
            """
        let older = try JSONDecoder().decode(LifecycleManager.self, from: Data(stored.utf8))
        #expect(launch(after: 60, boot: start, older) == swiped, "what an older version stored was seen when it was adopted")
        #expect(launch(after: 60, boot: start + .seconds(1), older) == gone)
    }

    @Test("a missing card without the number of its start is no swipe while a newer one of the subject is shown")
    func replacedWhileOff() {
        let cases: [(Int?, DismissalCause)] = [(nil, .system), (1, .user)]
        for (instance, cause) in cases {
            var manager = LifecycleManager()
            _ = manager.adopt(activity("a", instance: instance), now: start)
            let steps = manager.restore([activity("b", instance: 2)], now: start + .seconds(60), boot: start)
            #expect(steps.first == .report(.match("m1"), instance: instance, cause))
        }
    }

    @Test("an activity that a push or its age ended is no swipe either")
    func ended() {
        var manager = LifecycleManager()
        _ = manager.adopt(activity("a"), now: start)
        #expect(manager.gone("a", isDismissed: false) == [.report(.match("m1"), instance: 1, .system)])
    }

    @Test("a replacement is adopted first, and then the older one of the match ends")
    func replacement() {
        var manager = LifecycleManager()
        _ = manager.adopt(activity("a"), now: start)
        _ = manager.adopt(activity("other", match: "m2"), now: start)
        #expect(manager.adopt(activity("b", instance: 2), now: start) == [.end(activityId: "a")])
        #expect(manager.isActive(.match("m1")))
        #expect(manager.gone("a", isDismissed: true) == [.report(.match("m1"), instance: 1, .system)])
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
        let kind = OperationKind.activityToken(.match("m1"), instance: 1)
        #expect(manager.updateToken(try hash(1), of: .match("m1"), instance: 1) != nil)
        manager.confirmed(try #require(confirmed(kind, try hash(1))))
        #expect(manager.updateToken(try hash(1), of: .match("m1"), instance: 1) == nil)
        #expect(manager.updateToken(try hash(2), of: .match("m1"), instance: 1)?.kind == kind)
        #expect(manager.updateToken(try hash(1), of: .match("m2"), instance: 1) != nil)
        manager.forget(.match("m1"))
        #expect(manager.updateToken(try hash(1), of: .match("m1"), instance: 2) != nil)
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
        #expect(try submission(3, "Match") == .startToken(attributesType: "Match"), "a rotated one")
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

    private func operation(_ kind: OperationKind, settledBy status: Int? = nil) -> PendingOperation? {
        var queue = PendingOperations()
        _ = queue.enqueue(kind, uid: "u", operationId: "op", now: start)
        if let status {
            _ = queue.take(now: start) { _ in true }
            _ = queue.settle("op", .answered(status: status), now: start)
        }
        return queue.operations.first
    }

    @Test("L-19: follows are shown immediately, and a second tap changes nothing")
    func follows() {
        var manager = FollowManager()
        #expect(manager.follow(.match("m1")) == true)
        #expect(manager.follow(.match("m1")) == false)
        #expect(manager.subjects == [.match("m1")])
        manager.unfollow(.match("m1"))
        #expect(manager.subjects.isEmpty)
    }

    @Test("the server's list of follows is taken over, except for what it does not know yet")
    func followsAreReadBack() throws {
        var manager = FollowManager()
        _ = manager.follow(.match("gone"))
        let waiting = [
            try #require(operation(.follow(.match("new")))), try #require(operation(.unfollow(.match("left")))),
            try #require(operation(.dismissal(.match("swiped"), instance: 1, cause: .user))),
            try #require(operation(.dismissal(.match("other"), instance: 1, cause: .system))),
            try #require(operation(.follow(.match("refused")), settledBy: 403)),
        ]
        manager.readBack(["other", "left", "swiped"].map(ActivitySubject.match), unconfirmed: waiting)
        #expect(manager.subjects == [.match("other"), .match("new")])
    }
}
