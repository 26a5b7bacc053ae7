import Delivery
import Providers
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("The state of the fan-out")
struct FanOutStateTests {
    private let start = Timestamp(seconds: 1_800_000_000)

    private func state(_ timestamp: Int64, _ event: KeyEventClass = .quiet) -> PublishedState {
        PublishedState(
            subject: "m1",
            timestamp: timestamp,
            hash: "h\(timestamp)",
            builtAt: start,
            event: event,
            message: PushMessage(pushType: .liveactivity),
            broadcast: LiveActivityPush(.update, contentState: [], timestamp: Timestamp(seconds: timestamp))
        )
    }

    private func recipient(_ number: Int, last: Int64 = 0) throws -> Recipient {
        Recipient(
            key: ActivityKey(subject: "m1", userId: "u\(number)", deviceId: "d", instance: 1),
            token: try PushToken(LiveBench.updateToken(number), provider: .apns),
            app: "a",
            environment: .production,
            lastTimestamp: last
        )
    }

    @Test("while one request is under way states are not queued: the newest is sent next, and those between never")
    func conflation() throws {
        var fanOut = FanOutState()
        fanOut.publish(state(1))
        fanOut.join(try recipient(1), now: start)
        let next = fanOut.next(now: start)
        let first = try #require(next)
        #expect(first.state.timestamp == 1)
        let key = try recipient(1).key
        for timestamp in Int64(2)...50 {
            fanOut.publish(state(timestamp))
            fanOut.keepOnly([key], of: "m1", now: start)
            let none = fanOut.next(now: start)
            #expect(none?.state.timestamp == nil)
            #expect(fanOut.waiting == 0)
        }
        fanOut.finish(first, .sent, now: start)
        let newest = fanOut.next(now: start)
        #expect(newest?.state.timestamp == 50)
        let rest = fanOut.next(now: start)
        #expect(rest?.state.timestamp == nil)
    }

    @Test("F-08: the newest state is never dropped, whatever fails, and each token gets rising timestamps only", arguments: 1...20)
    func trailing(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var fanOut = FanOutState()
        var now = start
        var sent: [ActivityKey: [Int64]] = [:]
        let keys = try (1...5).map { try recipient($0).key }
        for number in 1...5 { fanOut.join(try recipient(number), now: now) }
        var inFlight: [FanOutState.Job] = []
        for step in Int64(1)...300 {
            now = now + .seconds(1)
            if random.next() % 3 == 0 {
                fanOut.publish(state(step))
                fanOut.keepOnly(keys, of: "m1", now: now)
            }
            while random.next() % 2 == 0, let job = fanOut.next(now: now) { inFlight.append(job) }
            #expect(Set(inFlight.map(\.recipient.key)).count == inFlight.count)
            if !inFlight.isEmpty, random.next() % 2 == 0 {
                let job = inFlight.remove(at: Int(random.next() % UInt64(inFlight.count)))
                let fails = random.next() % 4 == 0
                if !fails { sent[job.recipient.key, default: []].append(job.state.timestamp) }
                fanOut.finish(job, fails ? .failed(retryAfter: nil) : .sent, now: now)
            }
        }
        let last = fanOut.state(of: "m1")?.timestamp
        for job in inFlight {
            sent[job.recipient.key, default: []].append(job.state.timestamp)
            fanOut.finish(job, .sent, now: now)
        }
        now = now + .seconds(120)
        while let job = fanOut.next(now: now) {
            sent[job.recipient.key, default: []].append(job.state.timestamp)
            fanOut.finish(job, .sent, now: now)
        }
        for key in keys {
            let stamps = sent[key] ?? []
            #expect(stamps.last == last)
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
        }
    }

    @Test("users whose names Unicode takes for the same text are each sent the state, and have a bucket each")
    func equivalentUsers() throws {
        var fanOut = FanOutState()
        fanOut.publish(state(1))
        var budgets = BoundaryBudgets()
        // U+212A, the Kelvin sign, is canonically equivalent to K.
        for (number, user) in ["Kim", "\u{212A}im"].enumerated() {
            var recipient = try recipient(number)
            recipient.key.userId = user
            fanOut.join(recipient, now: start)
            #expect(budgets[recipient.key] == BoundaryBudget())
            _ = budgets[recipient.key].take(now: start)
        }
        var tokens: Set<TokenHash> = []
        while let job = fanOut.next(now: start) { tokens.insert(job.recipient.address.hash) }
        #expect(tokens.count == 2)
    }

    @Test("an event that was skipped still counts for the priority of what is sent instead")
    func missedEvent() throws {
        var fanOut = FanOutState()
        fanOut.publish(state(1))
        fanOut.join(try recipient(1, last: 1), now: start)
        fanOut.publish(state(2, .alerting))
        fanOut.publish(state(3))
        fanOut.keepOnly([try recipient(1).key], of: "m1", now: start)
        let job = fanOut.next(now: start)
        #expect(job?.priority == .high)
    }

    /// State 1 went to one recipient; while that was under way state 2 was published, for this audience.
    private func stateAfterOneRequest(_ end: FanOutState.Ending, audienceMeanwhile audience: [ActivityKey]) throws -> FanOutState {
        var fanOut = FanOutState()
        fanOut.publish(state(1))
        fanOut.join(try recipient(1), now: start)
        let next = fanOut.next(now: start)
        let job = try #require(next)
        fanOut.publish(state(2))
        fanOut.keepOnly(audience, of: "m1", now: start)
        fanOut.finish(job, end, now: start)
        return fanOut
    }

    @Test("a dead token is not sent the same state twice by a look at the audience that began before its end was written")
    func deadToken() throws {
        // A newer state came while the request was under way, for an audience that still had it.
        var fanOut = try stateAfterOneRequest(.over, audienceMeanwhile: [try recipient(1).key])
        fanOut.join(try recipient(1), now: start)
        let again = fanOut.next(now: start)
        #expect(again?.state.timestamp == nil)
        // The next state's audience is without it.
        fanOut.publish(state(3))
        fanOut.keepOnly([], of: "m1", now: start)
        let gone = fanOut.next(now: start)
        #expect(gone?.state.timestamp == nil)
        #expect(fanOut.address(of: try recipient(1).key) == nil)
        // One whose end did not count, since its token was registered after it, is in it and gets that.
        fanOut.join(try recipient(1), now: start)
        let other = fanOut.next(now: start)
        fanOut.finish(try #require(other), .over, now: start)
        fanOut.publish(state(4))
        fanOut.keepOnly([try recipient(1).key], of: "m1", now: start)
        let backingOff = fanOut.next(now: start + .seconds(59))
        #expect(backingOff?.state.timestamp == nil)
        let more = fanOut.next(now: start + .seconds(60))
        #expect(more?.state.timestamp == 4)
        // Its place taken by another token, that one is sent what the dead one was not.
        fanOut.finish(try #require(more), .over, now: start + .seconds(60))
        var renewed = try recipient(2)
        renewed.key = try recipient(1).key
        fanOut.join(renewed, now: start + .seconds(61))
        let first = fanOut.next(now: start + .seconds(61))
        #expect(first?.state.timestamp == 4 && first?.recipient.address == renewed.address)
    }

    @Test(
        "a token that is replaced while a request to it is refused: the new one gets the state at once",
        arguments: [
            FanOutState.Ending.over, .skipped, .failed(retryAfter: .seconds(60)), .sent,
        ]
    )
    func replacedInFlight(_ end: FanOutState.Ending) throws {
        var fanOut = FanOutState()
        fanOut.publish(state(1))
        fanOut.join(try recipient(1), now: start)
        let next = fanOut.next(now: start)
        var renewed = try recipient(2)
        renewed.key = try recipient(1).key
        fanOut.join(renewed, now: start)
        let none = fanOut.next(now: start)
        #expect(none?.state.timestamp == nil, "one request of an activity at a time")
        fanOut.finish(try #require(next), end, now: start)
        let first = fanOut.next(now: start)
        #expect(first?.state.timestamp == 1 && first?.recipient.address == renewed.address)
        #expect(fanOut.inFlight == 1)
    }

    @Test("who left the audience while a request was under way gets nothing more")
    func leaving() throws {
        var fanOut = try stateAfterOneRequest(.sent, audienceMeanwhile: [])
        let rest = fanOut.next(now: start)
        #expect(rest?.state.timestamp == nil)
        #expect(fanOut.inFlight == 0)
    }

    @Test(
        "F-15: the priority follows from the event alone, and boundaries from the device's bucket",
        arguments: [
            (1, PushPriority.high), (2, .high), (5, .high), (8, .high), (9, .high), (11, .high), (12, .high), (13, .high), (14, .normal),
            (18, .normal), (nil, .normal),
        ] as [(Int?, PushPriority)]
    )
    func priorities(_ event: Int?, _ expected: PushPriority) {
        var budget = BoundaryBudget()
        let priority = UpdatePriority.choose(KeyEventClass(priority: event), budget: &budget, now: start)
        #expect(priority == expected)
    }

    @Test("a device gets eight boundaries an hour at priority 10, and wickets in addition")
    func budget() {
        var budget = BoundaryBudget()
        let first = (0..<10).map { _ in UpdatePriority.choose(.budgeted, budget: &budget, now: start) }
        #expect(first.filter { $0 == .high }.count == 8)
        let wicket = UpdatePriority.choose(.alerting, budget: &budget, now: start)
        #expect(wicket == .high)
        let later = start + .seconds(450)
        let next = (0..<2).map { _ in UpdatePriority.choose(.budgeted, budget: &budget, now: later) }
        #expect(next == [.high, .normal])
    }
}

extension FanOutStateTests {
    @Test("a device has one bucket over all it follows, and one that was stored is gone on with")
    func oneBucket() throws {
        var fanOut = FanOutState()
        var other = try recipient(1)
        other.key.subject = "m2"
        fanOut.join(try recipient(1), now: start)
        fanOut.join(other, now: start)
        var priorities: [PushPriority] = []
        for timestamp in Int64(1)...5 {
            for subject in ["m1", "m2"] {
                var state = state(timestamp, .budgeted)
                state.subject = subject
                fanOut.publish(state)
                fanOut.keepOnly([subject == "m1" ? try recipient(1).key : other.key], of: subject, now: start)
                let next = fanOut.next(now: start)
                let job = try #require(next)
                priorities.append(job.priority)
                #expect((job.budgetFullAt != nil) == (job.priority == .high))
                fanOut.finish(job, .sent, now: start)
            }
        }
        #expect(priorities.filter { $0 == .high }.count == 8)
        #expect(priorities.suffix(2) == [.normal, .normal])
        // Another process reads what was stored, half an hour later.
        var successor = FanOutState()
        var stored = try recipient(1)
        stored.budgetFullAt = start + .seconds(3600)
        let later = start + .seconds(1800)
        successor.join(stored, now: later)
        var left = 0
        for timestamp in Int64(1)...8 {
            successor.publish(state(timestamp, .budgeted))
            successor.keepOnly([stored.key], of: "m1", now: later)
            let next = successor.next(now: later)
            let job = try #require(next)
            if job.priority == .high { left += 1 }
            successor.finish(job, .sent, now: later)
        }
        #expect(left == 4, "half an hour fills half of it")
    }
}
