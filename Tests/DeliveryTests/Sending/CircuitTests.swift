import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Delivery

@Suite("Circuits of refused credentials and topics")
struct CircuitTests {
    private static let refused = PushOutcome.apns(403, "InvalidProviderToken")

    /// Devices of one app, numbered from `first`, each with a send waiting.
    private func prepare(_ bench: SendingBench, from first: Int = 1, _ count: Int) async throws {
        for number in first..<first + count {
            try await bench.register("user-\(number)", "phone\(number)", token: SendingBench.token(number))
            try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "user-\#(number)", "title": "Goal"}"#)
        }
    }

    /// The usual waits, so that nothing is tried again within a test, and one delivery after the other.
    private func slowly(_ configuration: inout DispatcherConfiguration) {
        configuration.delays = RetryDelays()
        configuration.claimLimit = 1
    }

    private func states(_ bench: SendingBench, _ count: Int) async throws -> [SendState] {
        var states: [SendState] = []
        for number in 1...count { states.append(try await bench.send("s\(number)").state) }
        return states
    }

    private func makeProbeDue(_ bench: SendingBench) async throws {
        try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = now()")
    }

    @Test("a few different deliveries are tried, then nothing more: what waits expires in its time, and is counted")
    func opens() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 8)
            try await bench.delayProbes()
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            #expect(sender.calls.count == CircuitDecision.firstProbes)
            #expect(Set(sender.calls.map(\.token)).count == CircuitDecision.firstProbes)
            #expect(try await states(bench, 8) == Array(repeating: .blocked, count: 8))
            let backlog = try await bench.store.backlog()
            #expect(backlog.blocked == 8 && backlog.retrying == 0 && backlog.ready == 0)
            #expect(backlog.circuits.map(\.cause) == ["InvalidProviderToken"])
            #expect(backlog.circuits.map(\.scope.credential) == ["key-1"])
            #expect(backlog.circuits.map(\.scope.kind) == [.refused])
            #expect(
                try await bench.count(
                    "pushScheduled s JOIN pushDeliveries d USING (deliveryId) JOIN pushSends p USING (sendId) WHERE s.runAt <> p.expiresAt"
                ) == 0
            )
            #expect(try await bench.deliveriesOutOfPlace() == 0)
            let waiting = try #require(try await bench.store.waitingCircuits(endedAfter: .now()).first)
            #expect(waiting.waiting == 8 && waiting.closedAt == nil && waiting.cause == "InvalidProviderToken")
            #expect(try await bench.store.closeCircuit(waiting.id, recording: .test("me")))
            let ended = try #require(try await bench.store.waitingCircuits(endedAfter: .now() - .seconds(3600)).first)
            #expect(ended.closedAt != nil && ended.waiting == 0)
            let later = try await bench.store.waitingCircuits(endedAfter: .now() + .seconds(3600))
            #expect(later.isEmpty)
        }
    }

    @Test("a probe that is under way counts among the few deliveries that are tried")
    func probeUnderWay() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, CircuitDecision.firstProbes)
            try await bench.delayProbes()
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            #expect(sender.calls.count == CircuitDecision.firstProbes)
            let circuit = try #require(try await bench.store.circuits().first)
            let probe = try await bench.store.claimProbe(of: circuit, lease: .seconds(60), worker: "other")
            #expect(probe?.probeOf == circuit.id)
            try await prepare(bench, from: CircuitDecision.firstProbes + 1, 1)
            try await bench.dispatch(sender, slowly)
            #expect(sender.calls.count == CircuitDecision.firstProbes)
            #expect(try await bench.send("s\(CircuitDecision.firstProbes + 1)").state == .blocked)
        }
    }

    @Test("a probe whose claim fails after its lease was stored was not begun: it is ready again, without an attempt")
    func probeWithoutAnswer() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal", "collapseId": "c", "policy": "at_most_once"}"#)
            try await bench.delayProbes()
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 1) == [.blocked])
            sender.answer(nil)
            try await makeProbeDue(bench)
            // Whether it may begin is asked after it was leased.
            try await bench.refuse("UPDATE", on: "pushNewest", when: "NEW.inFlight IS NOT NULL")
            let dispatcher = bench.dispatcher(sender.lookup)
            await #expect(throws: PostgresError.self) { try await dispatcher.runUntilIdle() }
            try await bench.pool.execute("DROP TRIGGER refuse ON pushNewest")
            #expect(try await bench.count("pushLeases") == 1)
            try await bench.pool.execute("UPDATE pushLeases SET claimedAt = claimedAt - interval '31 seconds'")
            try await dispatcher.runUntilIdle()
            #expect(try await bench.status(of: "s1") == [.failed, .sent])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test(
        "a refused probe keeps the circuit open, ever more rarely; an accepted one frees everything, and no attempt is lost or counted twice"
    )
    func probe() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 5)
            try await bench.delayProbes()
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            let first = sender.calls.count
            try await makeProbeDue(bench)
            try await bench.dispatch(sender, slowly)
            #expect(sender.calls.count == first + 1)
            #expect(Set(sender.calls.map(\.token)).count == first + 1, "a probe of another delivery")
            let circuit = try #require(try await bench.store.circuits().first)
            #expect(circuit.refusals == Int64(first) + 1 && circuit.nextProbeAt > .now() + .seconds(25))
            sender.answer(nil)
            try await makeProbeDue(bench)
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 5) == Array(repeating: .sent, count: 5))
            #expect(try await bench.store.circuits().isEmpty)
            #expect(try await bench.status(of: "s1") == [.failed, .sent])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("one delivery that is refused alone does not stop the app: others are tried at once, and it ends for its own reason")
    func poisoned() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 12)
            let sender = ScriptedProvider()
            sender.answer { _, token in token == SendingBench.token(1) ? Self.refused : nil }
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                $0.delays.ownRefusal = .init(base: .zero, cap: .zero)
            }
            let states = try await states(bench, 12)
            #expect(states.dropFirst() == Array(repeating: .sent, count: 11)[...])
            #expect(states[0] == .failed)
            #expect(sender.calls.count { $0.token == SendingBench.token(1) } <= GateEvidence.ownRefusals + 1)
            let dead = try await bench.pool.query("SELECT reasonCode::text, providerErrorCode FROM pushDead")
            #expect(try dead.map { try $0.decode((String, String).self).1 } == ["InvalidProviderToken"])
            #expect(try await bench.store.circuits().isEmpty)
        }
    }

    @Test(
        "a process that had nothing accepted lately asks what others had, with the same credential, before it opens a circuit",
        arguments: [("key-1", true), ("another key", false)]
    )
    func acceptedElsewhere(credential: String, isContradicted: Bool) async throws {
        try await SendingBench.with { bench in
            let other = Instance(
                instance: "00000000-0000-0000-0000-000000000001",
                host: "other:1",
                version: "1",
                startedAt: .now(),
                roles: ["send"],
                credentials: [Instance.Credential(name: "k", id: credential, provider: .apns, acceptedAt: .now())],
                seenAt: .now()
            )
            try await InstanceStore(pool: bench.pool).report(other)
            let sender = ScriptedProvider()
            sender.answer { _, token in token == SendingBench.token(1) ? Self.refused : nil }
            // Each dispatcher is a process that knows nothing of the other's outcomes.
            try await prepare(bench, from: 2, 3)
            try await bench.dispatch(sender) { $0.worker = "other:1" }
            try await prepare(bench, 1)
            try await bench.dispatch(sender, slowly)
            let waits = try await bench.pool.query("SELECT circuitId IS NULL FROM pushScheduled").map { try $0.decode(Bool.self) }
            #expect(waits == [isContradicted])
            #expect(try await bench.store.circuits().isEmpty == isContradicted)
        }
    }

    @Test("a refused topic blocks that topic alone, and no other push of the credential waits")
    func topic() async throws {
        try await SendingBench.with { bench in
            for number in 1...8 {
                try await bench.register("user-\(number)", "phone\(number)", token: SendingBench.token(number))
                let type = number <= 4 ? "voip" : "alert"
                try await bench.enqueue(
                    #"{"sendId": "s\#(number)", "uid": "user-\#(number)", "title": "Goal", "pushType": "\#(type)", "priority": "high"}"#
                )
            }
            let sender = ScriptedProvider()
            sender.answer { message, _ in message.pushType == .voip ? .apns(400, "TopicDisallowed") : nil }
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 8) == Array(repeating: .blocked, count: 4) + Array(repeating: .sent, count: 4))
            #expect(try await bench.store.circuits().map(\.scope.topic) == ["com.example.app.voip"])
        }
    }

    @Test("another credential is tried at once, and frees what waited for the old one")
    func changedCredential() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 3)
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            #expect(try await bench.store.backlog().blocked == 3)
            sender.answer(nil)
            sender.use(credential: "key-2")
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 3) == [.sent, .sent, .sent])
            #expect(try await bench.store.circuits().isEmpty)
        }
    }

    @Test("a changed credential that is refused too blocks under its own name, and is tried once")
    func changedAndRefused() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 2)
            try await bench.delayProbes()
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            sender.use(credential: "key-2")
            try await bench.dispatch(sender, slowly)
            let tries = sender.calls.count
            try await bench.dispatch(sender, slowly)
            #expect(sender.calls.count == tries && tries <= 5)
            #expect(Set(try await bench.store.circuits().map(\.scope.credential)).contains("key-2"))
            #expect(try await bench.store.backlog().blocked == 2)
        }
    }

    @Test("only the app, environment and credential that were refused are blocked")
    func scope() async throws {
        try await SendingBench.with { bench in
            func send(_ number: Int, _ app: String, _ environment: String) -> String {
                #"{"sendId": "s\#(number)", "token": "\#(SendingBench.token(number))", "provider": "apns", "app": "\#(app)", "environment": "\#(environment)", "title": "t"}"#
            }
            try await bench.enqueue(send(1, "a", "production"))
            let sender = ScriptedProvider(environments: [.production, .sandbox])
            sender.answer { _, token in [1, 4].map(SendingBench.token).contains(token) ? Self.refused : nil }
            try await bench.dispatch(sender, slowly)
            try await bench.enqueue("[\(send(2, "a", "sandbox")), \(send(3, "b", "production")), \(send(4, "a", "production"))]")
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 4) == [.blocked, .sent, .sent, .blocked])
        }
    }

    @Test("a refused project key for APNs blocks iOS and not Android")
    func onePlatform() async throws {
        try await SendingBench.with { bench in
            func send(_ number: Int, _ platform: String) -> String {
                #"{"sendId": "s\#(number)", "token": "fcm-\#(number)", "provider": "fcm", "app": "a", "platform": "\#(platform)", "title": "t"}"#
            }
            try await bench.enqueue(send(1, "ios"))
            let sender = ScriptedProvider()
            sender.answer { _, token in token == "fcm-2" ? nil : .fcm(401, "THIRD_PARTY_AUTH_ERROR") }
            try await bench.dispatch(sender, slowly)
            try await bench.enqueue("[\(send(2, "android")), \(send(3, "ios"))]")
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 3) == [.blocked, .sent, .blocked])
        }
    }

    @Test("a topic that the message names itself is the message's own fault")
    func ownTopic() async throws {
        try await SendingBench.with { bench in
            for number in 1...6 {
                try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number))
                let topic = number <= 4 ? #", "topic": "com.example.made-up-\#(number)""# : ""
                try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "user-\#(number)", "title": "Goal"\#(topic)}"#)
            }
            let sender = ScriptedProvider()
            sender.answer { message, _ in message.topic == nil ? nil : .apns(400, "TopicDisallowed") }
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 6) == [.retrying, .retrying, .retrying, .retrying, .sent, .sent])
            #expect(try await bench.store.circuits().isEmpty)
        }
    }

    @Test("what is blocked can be cancelled, and expires in its time")
    func endings() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 6)
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            let tries = sender.calls.count
            #expect(try await bench.store.cancel("s5", author: "test") == 1)
            try await bench.pool.execute("UPDATE pushSends SET expiresAt = now() WHERE sendId = 's6'")
            try await bench.pool.execute(
                "UPDATE pushScheduled s SET runAt = now() FROM pushDeliveries d WHERE d.deliveryId = s.deliveryId AND d.sendId = 's6'"
            )
            try await bench.dispatch(sender, slowly)
            #expect(try await states(bench, 6).suffix(3) == [.blocked, .cancelled, .expired])
            #expect(sender.calls.count == tries)
        }
    }

    @Test("a person may close a circuit; if it was too early, the next refusal opens one again")
    func close() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 3)
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            let circuit = try #require(try await bench.store.circuits().first)
            #expect(try await bench.store.closeCircuit(circuit.id, recording: .test("ann")))
            #expect(try await bench.store.closeCircuit(circuit.id, recording: .test("bob")) == false)
            try await bench.dispatch(sender, slowly)
            #expect(try await bench.store.backlog().blocked == 3)
            #expect(try await bench.store.circuits().map(\.id) != [circuit.id])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("an accepted probe elsewhere speaks for the credential; a person who closes a circuit does not", arguments: ["probe", "ann"])
    func closedElsewhere(by name: String) async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 1)
            try await bench.dispatch(ScriptedProvider([SendingBench.token(1): [Self.refused]]), slowly)
            let gate = SendGate()
            let circuit = try #require(try await bench.store.refresh(gate).first)
            #expect(try await bench.store.closeCircuit(circuit.id, recording: .test(name)))
            try await bench.store.refresh(gate)
            let scope = PushScope(circuit.scope)
            let verdict = gate.assess(
                Self.refused,
                scope,
                hasOwnTopic: false,
                credential: "key-1",
                operationKey: "another",
                now: .now()
            )
            #expect(verdict.ownRefusals == (name == "probe" ? 1 : 0))
            #expect((verdict.opening == nil) == (name == "probe"))
            #expect(gate.takeClosed() == [circuit.scope])
        }
    }

    @Test("what a circuit blocked that closed days ago is sent by the first instance that starts")
    func closedLongAgo() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 1)
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            try await bench.pool.execute("UPDATE pushCircuits SET closedAt = now() - interval '2 days', closedBy = 'probe'")
            #expect(try await bench.store.unblockedCircuits(since: Timestamp.now() - .seconds(86_400)).isEmpty)
            sender.answer(nil)
            try await bench.dispatch(sender, slowly)
            #expect(try await bench.send("s1").state == .sent)
        }
    }

    @Test("the probe is a delivery that nobody has locked; where all are, the circuit stays open and keeps its turn", arguments: [1, 2])
    func lockedProbe(locked: Int) async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 2)
            try await bench.delayProbes()
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            #expect(try await bench.store.backlog().blocked == 2)
            let circuit = try #require(try await bench.store.circuits().first)
            let tries = sender.calls.count
            try await makeProbeDue(bench)
            try await bench.pool.withTransaction { transaction in
                // In the order of probes.
                let rows = try await transaction.query(
                    "SELECT deliveryId FROM pushScheduled ORDER BY attemptNumber, deliveryId LIMIT \(locked) FOR UPDATE"
                )
                #expect(rows.count == locked)
                try await bench.dispatch(sender, slowly)
            }
            #expect(sender.calls.count == tries + 2 - locked)
            #expect(try await bench.store.backlog().blocked == 2)
            let after = try #require(try await bench.store.circuits().first)
            #expect(after.id == circuit.id && after.probes == circuit.probes + 2 - locked)
            let isDue = after.nextProbeAt <= .now() + .seconds(60)
            #expect(isDue == (locked == 2))
        }
    }

    @Test("a circuit that blocks nothing is left to probes of others, and closes when none is made for minutes", arguments: [120.0, 190.0])
    func idle(seconds: Double) async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 1)
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            #expect(try await bench.store.cancel("s1", author: "test") == 1)
            try await bench.pool.execute(
                "UPDATE pushCircuits SET nextProbeAt = now() - \(seconds) * interval '1 second', lastRefusedAt = now() - interval '200 seconds'"
            )
            let before = try await bench.store.circuits()
            #expect(before.count == 1)
            try await bench.dispatch(sender, slowly)
            #expect(try await bench.store.circuits() == (seconds < CircuitDecision.idleLimit.inSeconds ? before : []))
        }
    }

    @Test("a circuit that an uncommitted transaction changes is not idle, and keeps no other from closing")
    func idleAndLocked() async throws {
        try await SendingBench.with { bench in
            try await bench.pool.execute(
                """
                INSERT INTO pushCircuits (kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals,
                    nextProbeAt)
                SELECT 'refused', 'apns', app, 'production', '', '', 'key-1', 'InvalidProviderToken', t, t, 1, t
                FROM unnest(ARRAY['a', 'b']) AS app, (SELECT now() - interval '1 hour' AS t) x
                """
            )
            try await bench.pool.withConnection { connection in
                try await connection.executeScript("BEGIN; UPDATE pushCircuits SET lastRefusedAt = clock_timestamp() WHERE app = 'a'")
                try await bench.store.closeIdleCircuits()
                try await connection.executeScript("COMMIT")
            }
            try await bench.store.closeIdleCircuits()
            #expect(try await bench.store.circuits().map(\.scope.app) == ["a"])
        }
    }

    @Test("one of two instances makes the probe, also when both look at once")
    func oneProbe() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 3)
            let sender = ScriptedProvider()
            sender.answer(Self.refused)
            try await bench.dispatch(sender, slowly)
            try await makeProbeDue(bench)
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

    @Test("what an instance blocks that has not heard of the circuit's end is due at once")
    func lateBlock() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench, 1)
            try await bench.dispatch(ScriptedProvider([SendingBench.token(1): [Self.refused]]), slowly)
            let circuit = try #require(try await bench.store.circuits().first)
            _ = try await bench.store.closeCircuit(circuit.id, recording: .test("ann"))
            #expect(try await bench.store.requeueUnblocked([circuit.id], limit: 1000) == 1)
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
