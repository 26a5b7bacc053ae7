import Postgres
import Providers
import PushContract
import Testing

@testable import Delivery

@Suite("Holding what a refused credential would waste")
struct HoldTests {
    private let refused = PushOutcome.apns(403, "InvalidProviderToken")

    /// Devices 1…count of one app, each with a send waiting.
    private func prepare(_ bench: SendingBench, _ count: Int) async throws {
        for number in 1...count {
            try await bench.register("user-\(number)", "phone", token: SendingBench.token(number))
            try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "user-\#(number)", "title": "Goal"}"#)
        }
    }

    /// The usual waits, so that nothing is tried again within a test.
    private func slowly(_ configuration: inout DispatcherConfiguration) { configuration.delays = RetryDelays() }

    private func states(_ bench: SendingBench, _ count: Int) async throws -> [SendState] {
        var states: [SendState] = []
        for number in 1...count { states.append(try await bench.send("s\(number)").state) }
        return states
    }

    @Test("after a refusal nothing more is tried: what waits is held, with its expiry as its end, and counted")
    func circuits() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 5)
            let sender = ScriptedProvider([SendingBench.token(1): [refused]])
            // One place: the first is refused before the others are claimed.
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                slowly(&$0)
            }
            #expect(sender.calls.count == 1)
            #expect(try await states(bench, 5) == [.blocked, .blocked, .blocked, .blocked, .blocked])
            let backlog = try await bench.store.backlog()
            #expect(backlog.blocked == 5 && backlog.retrying == 0 && backlog.ready == 0)
            #expect(backlog.circuits.map(\.cause) == ["InvalidProviderToken"])
            #expect(backlog.circuits.map(\.scope.credential) == ["key-1"])
            #expect(try await bench.count("notificationDeliveryAttempts WHERE eventType = 'send'") == 1)
            #expect(
                try await bench.count(
                    "pushScheduled s JOIN pushDeliveries d USING (deliveryId) JOIN pushSends p USING (sendId) WHERE s.runAt <> p.expiresAt"
                ) == 0
            )
            #expect(try await bench.deliveriesOutOfPlace() == 0)
            let waiting = try #require(try await bench.store.waitingCircuits(endedAfter: .now()).first)
            #expect(waiting.waiting == 5 && waiting.closedAt == nil && waiting.cause == "InvalidProviderToken")
            #expect(try await bench.store.closeCircuit(waiting.id, by: "me"))
            let ended = try #require(try await bench.store.waitingCircuits(endedAfter: .now() - .seconds(3600)).first)
            #expect(ended.closedAt != nil && ended.waiting == 0)
            let later = try await bench.store.waitingCircuits(endedAfter: .now() + .seconds(3600))
            #expect(later.isEmpty)
        }
    }

    @Test("a probe that is refused keeps the hold; one that is taken frees everything, and no try is lost or counted twice")
    func probe() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 4)
            let sender = ScriptedProvider([SendingBench.token(1): [refused, refused]])
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                slowly(&$0)
            }
            // Its time has come: one try, refused; the hold stands.
            try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = now()")
            try await bench.dispatch(sender, slowly)
            #expect(sender.calls.count == 2)
            #expect(try await states(bench, 4) == [.blocked, .blocked, .blocked, .blocked])
            let circuit = try #require(try await bench.store.circuits().first)
            #expect(circuit.probes == 1 && circuit.refusals == 2 && circuit.nextProbeAt > .now() + .seconds(25))
            // The next one is taken.
            try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = now()")
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 4) == [.sent, .sent, .sent, .sent])
            #expect(try await bench.store.circuits().isEmpty)
            #expect(try await bench.status(of: "s1") == [.failed, .failed, .sent])
            #expect(try await bench.status(of: "s2") == [.sent])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("another credential is tried at once, and frees what waited for the old one")
    func changedCredential() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 3)
            let sender = ScriptedProvider([SendingBench.token(1): [refused]])
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                slowly(&$0)
            }
            #expect(try await bench.store.backlog().blocked == 3)
            sender.use(credential: "key-2")
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 3) == [.sent, .sent, .sent])
            #expect(try await bench.store.circuits().isEmpty)
        }
    }

    @Test("a changed credential that is refused too holds under its own name, and is tried once")
    func changedAndRefused() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 2)
            let sender = ScriptedProvider([SendingBench.token(1): [refused]])
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                slowly(&$0)
            }
            sender.use(credential: "key-2", scripts: [SendingBench.token(1): [refused], SendingBench.token(2): [refused]])
            try await bench.dispatch(sender, slowly)
            let tries = sender.calls.count
            try await bench.dispatch(sender, slowly)
            #expect(sender.calls.count == tries && tries <= 3)
            #expect(Set(try await bench.store.circuits().map(\.scope.credential)).contains("key-2"))
            #expect(try await bench.store.backlog().blocked == 2)
        }
    }

    @Test("only the app, environment and credential that were refused are held")
    func scope() async throws {
        try await SendingBench.with { bench in
            func send(_ number: Int, _ app: String, _ environment: String) -> String {
                #"{"sendId": "s\#(number)", "token": "\#(SendingBench.token(number))", "provider": "apns", "app": "\#(app)", "environment": "\#(environment)", "title": "t"}"#
            }
            try await bench.enqueue(send(1, "a", "production"))
            let sender = ScriptedProvider([SendingBench.token(1): [refused]], environments: [.production, .sandbox])
            try await bench.dispatch(sender, slowly)
            try await bench.enqueue("[\(send(2, "a", "sandbox")), \(send(3, "b", "production")), \(send(4, "a", "production"))]")
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 4) == [.blocked, .sent, .sent, .blocked])
        }
    }

    @Test("a refused project key for APNs holds iOS and not Android")
    func onePlatform() async throws {
        try await SendingBench.with { bench in
            func send(_ number: Int, _ platform: String) -> String {
                #"{"sendId": "s\#(number)", "token": "fcm-\#(number)", "provider": "fcm", "app": "a", "platform": "\#(platform)", "title": "t"}"#
            }
            try await bench.enqueue(send(1, "ios"))
            let sender = ScriptedProvider(["fcm-1": [.fcm(401, "THIRD_PARTY_AUTH_ERROR")]])
            try await bench.dispatch(sender, slowly)
            try await bench.enqueue("[\(send(2, "android")), \(send(3, "ios"))]")
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 3) == [.blocked, .sent, .blocked])
        }
    }

    @Test("a topic that the message names itself is the message's own fault")
    func ownTopic() async throws {
        try await SendingBench.with { bench in
            for number in 1...2 { try await bench.register("user-\(number)", "phone", token: SendingBench.token(number)) }
            try await bench.enqueue(#"{"sendId": "s1", "uid": "user-1", "title": "Goal", "topic": "com.example.other"}"#)
            try await bench.enqueue(#"{"sendId": "s2", "uid": "user-2", "title": "Goal"}"#)
            let sender = ScriptedProvider([SendingBench.token(1): [.apns(400, "TopicDisallowed")]])
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                slowly(&$0)
            }
            #expect(try await states(bench, 2) == [.retrying, .sent])
            #expect(try await bench.store.circuits().isEmpty)
        }
    }

    @Test("what is held can be cancelled, and expires in its time")
    func endings() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 3)
            let sender = ScriptedProvider([SendingBench.token(1): [refused]])
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                slowly(&$0)
            }
            #expect(try await bench.store.cancel("s2", author: "test") == 1)
            try await bench.pool.execute("UPDATE pushSends SET expiresAt = now() WHERE sendId = 's3'")
            try await bench.pool.execute(
                "UPDATE pushScheduled s SET runAt = now() FROM pushDeliveries d WHERE d.deliveryId = s.deliveryId AND d.sendId = 's3'"
            )
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 3) == [.blocked, .cancelled, .expired])
            #expect(sender.calls.count == 1)
        }
    }

    @Test("a person may release a hold; if it was too early, the next refusal holds again")
    func release() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 3)
            let sender = ScriptedProvider([SendingBench.token(1): [refused], SendingBench.token(2): [refused]])
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                slowly(&$0)
            }
            let circuit = try #require(try await bench.store.circuits().first)
            #expect(try await bench.store.closeCircuit(circuit.id, by: "ann"))
            #expect(try await bench.store.closeCircuit(circuit.id, by: "bob") == false)
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                slowly(&$0)
            }
            #expect(try await bench.store.backlog().blocked >= 1)
            #expect(try await bench.store.circuits().map(\.id) != [circuit.id])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("one of two instances makes the probe, also when both look at once")
    func oneProbe() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 3)
            try await bench.dispatch(ScriptedProvider([SendingBench.token(1): [refused]])) {
                $0.claimLimit = 1
                slowly(&$0)
            }
            try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = now()")
            let circuit = try #require(try await bench.store.circuits().first)
            let turns = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<6 {
                    group.addTask { try await bench.store.reserveProbe(circuit, credential: "key-1", interval: .seconds(60)) }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(turns == 1)
        }
    }

    @Test("what is held by an instance that has not heard of the release is due at once")
    func lateHolder() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 1)
            try await bench.dispatch(ScriptedProvider([SendingBench.token(1): [refused]]), slowly)
            let circuit = try #require(try await bench.store.circuits().first)
            _ = try await bench.store.closeCircuit(circuit.id, by: "ann")
            #expect(try await bench.store.requeueUnblocked() == 1)
            _ = try await bench.store.promote()
            let late = try #require(try await bench.claim().first)
            let blocked = DeliveryNext.blocked(.open(circuit.id), after: nil)
            try await bench.outcomes.write([DeliveryOutcome(consequence: late.consequence(blocked), lease: late.lease, at: .now())])
            let sender = ScriptedProvider()
            try await bench.dispatch(sender, slowly)
            #expect(sender.calls.count == 1)
            #expect(try await bench.send("s1").state == .sent)
        }
    }
}
