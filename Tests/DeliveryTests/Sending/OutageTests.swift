import Logging
import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase
import TestSupport
import Testing

@testable import Delivery

@Suite("Circuits of providers that are down")
struct OutageTests {
    private func enqueue(_ bench: SendingBench, _ count: Int, critical: Int = 0, app: String = "a") async throws {
        let items = (0..<count).map { number in
            #"{"sendId": "\#(app)\#(number)", "token": "fcm-\#(app)-\#(number)", "provider": "fcm", "app": "\#(app)", "title": "t", "critical": \#(number < critical)}"#
        }
        for start in stride(from: 0, to: count, by: 500) {
            try await bench.enqueue("[" + items[start..<min(start + 500, count)].joined(separator: ",") + "]")
        }
    }

    private func slowly(_ configuration: inout DispatcherConfiguration) {
        configuration.delays = RetryDelays()
        configuration.capacity = 50
        configuration.claimLimit = 50
    }

    @Test(
        "a provider that fails or does not answer gets no storm: within two capacities of attempts everything waits",
        arguments: [PushOutcome.fcm(503, "UNAVAILABLE"), .down]
    )
    func noStorm(answer: PushOutcome) async throws {
        try await SendingBench.with { bench in
            try await enqueue(bench, 1000)
            let sender = ScriptedProvider()
            sender.answer(answer)
            try await bench.dispatch(sender, slowly)
            #expect(sender.calls.count <= 100, "\(sender.calls.count) attempts")
            let backlog = try await bench.store.backlog()
            #expect(backlog.blocked >= 950 && backlog.ready == 0 && backlog.blocked + backlog.retrying == 1000)
            let kind: CircuitKind = answer.httpStatus == nil ? .unreachable : .failing
            #expect(backlog.circuits.map(\.scope.kind) == [kind])
            // What is attempted while it is open are probes alone.
            let attempts = sender.calls.count
            try await bench.dispatch(sender, slowly)
            try await bench.dispatch(sender, slowly)
            #expect(sender.calls.count <= attempts + 2)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a request without an answer is no sign of health: failures between streams that the provider closes are an outage")
    func noAnswerBetween() {
        let gate = SendGate()
        let scope = PushScope(provider: .fcm, app: "a", environment: .production, platform: .android)
        var openings: [CircuitKind] = []
        for number in 0..<40 {
            let closed = PushOutcome.failed(ReasonMapping.network, detail: "the stream was closed")
            let verdict = gate.assess(
                number.isMultiple(of: 2) ? closed : .fcm(503, "UNAVAILABLE"),
                scope,
                hasOwnTopic: false,
                credential: "key-1",
                operationKey: "push-\(number)",
                now: Timestamp(seconds: 1_770_000_000)
            )
            openings += [verdict.opening?.scope.kind].compactMap { $0 }
        }
        #expect(openings == [.failing])
    }

    /// An outage whose first delivery is blocked and whose others wait for their retries, in ten minutes. The probe is due.
    private func prepareOutage(_ bench: SendingBench, retries: Int) async throws {
        try await enqueue(bench, 1 + retries)
        try await bench.pool.execute(
            """
            WITH circuit AS (
                INSERT INTO pushCircuits (kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals,
                    nextProbeAt)
                SELECT 'failing', provider, app, environment, '', '', 'key-1', 'x', now(), now(), 1, now() FROM pushQueues LIMIT 1
                RETURNING circuitId
            ), ready AS (
                DELETE FROM pushReady RETURNING deliveryId, queue
            )
            INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber, reasonCode, circuitId)
            SELECT deliveryId, queue, now() + interval '10 minutes', 2, 'provider_5xx',
                CASE WHEN deliveryId = (SELECT min(deliveryId) FROM ready) THEN circuitId END
            FROM ready CROSS JOIN circuit
            """
        )
    }

    @Test("the outcome that ends an outage changes no retry; a part of them becomes ready in each round")
    func retriesInParts() async throws {
        try await SendingBench.with { bench in
            try await prepareOutage(bench, retries: 25)
            let dispatcher = bench.dispatcher(ScriptedProvider().lookup) {
                slowly(&$0)
                $0.releaseLimit = 10
            }
            var queueClaims = QueueClaims(policy: QueueScheduler.Policy())
            var probes: [StartedDelivery] = []
            _ = try await dispatcher.round(&queueClaims) { probes.append($0) }
            #expect(probes.count == 1)
            let probe = try #require(probes.first)
            await dispatcher.working { await dispatcher.handle(probe) }
            #expect(try await bench.store.circuits().isEmpty)
            let retries = "pushScheduled WHERE runAt > now()"
            var left = [try await bench.count(retries)]
            for _ in 1...3 {
                _ = try await dispatcher.claimed(&queueClaims)
                left.append(try await bench.count(retries))
            }
            #expect(left == [25, 15, 5, 0])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("what is being released is released further after a round that failed")
    func failedRound() async throws {
        try await SendingBench.with { bench in
            try await prepareOutage(bench, retries: 25)
            // Refuses the second part, once: what a refused statement has taken of a sequence stays taken.
            try await bench.pool.execute("CREATE SEQUENCE releases")
            try await bench.refuse("INSERT", on: "pushReady", when: "nextval('releases') = 15")
            let log = RecordingLog { "\($0.message)" == "the send queue cannot be read; trying again" }
            let provider = ScriptedProvider()
            let dispatcher = bench.dispatcher(provider.lookup, logger: log.logger) {
                slowly(&$0)
                $0.releaseLimit = 10
            }
            try await withServices([dispatcher]) {
                try await eventually("all are sent") { try await bench.count("pushFinished WHERE outcome = 'sent'") == 26 }
            }
            #expect(log.events.count == 1)
            #expect(provider.calls.count == 26)
        }
    }

    @Test("a retry that fails again after the outage waits for its time, also for an instance that starts")
    func failsAgain() async throws {
        try await SendingBench.with { bench in
            try await prepareOutage(bench, retries: 25)
            let sender = ScriptedProvider()
            sender.answer { _, token in token == "fcm-a-5" ? .fcm(503, "UNAVAILABLE") : nil }
            for _ in 1...2 {
                try await bench.dispatch(sender) {
                    slowly(&$0)
                    $0.delays.fcm.minimum = .seconds(60)
                    $0.releaseLimit = 10
                }
            }
            #expect(sender.calls.count { $0.token == "fcm-a-5" } == 1)
            #expect(try await bench.store.backlog().retrying == 1)
            #expect(try await bench.count("pushFinished WHERE outcome = 'sent'") == 25)
        }
    }

    @Test("the end of an outage waits for nobody who has a retry of it locked, and frees the others")
    func lockedRetry() async throws {
        try await SendingBench.with { bench in
            try await enqueue(bench, 50)
            let sender = ScriptedProvider()
            sender.answer(.fcm(503, "UNAVAILABLE"))
            try await bench.dispatch(sender, slowly)
            let retries = "pushScheduled WHERE circuitId IS NULL AND runAt > now()"
            let retrying = try await bench.count(retries)
            let circuit = try #require(try await bench.store.circuits().first)
            try #require(retrying > 1)
            sender.answer(nil)
            try await bench.pool.withTransaction { transaction in
                _ = try await transaction.query("SELECT FROM \(raw: retries) ORDER BY deliveryId LIMIT 1 FOR UPDATE")
                #expect(try await bench.store.closeCircuit(circuit.id, recording: .test("test")))
                try await bench.dispatch(sender, slowly)
            }
            #expect(try await bench.count(retries) == 1)
        }
    }

    @Test("when it is back, a probe frees everything that is due, retries too, critical deliveries first")
    func recovery() async throws {
        try await SendingBench.with { bench in
            try await enqueue(bench, 400, critical: 40)
            let sender = ScriptedProvider()
            sender.answer(.fcm(503, "UNAVAILABLE"))
            try await bench.dispatch(sender, slowly)
            #expect(try await bench.store.backlog().blocked >= 300)
            sender.answer(nil)
            let before = sender.calls.count
            try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = now()")
            try await bench.dispatch(sender, slowly)
            let backlog = try await bench.store.backlog()
            #expect(backlog.blocked == 0 && backlog.retrying == 0 && backlog.ready == 0)
            #expect(try await bench.count("pushFinished WHERE outcome = 'sent'") == 400)
            let order = sender.calls.dropFirst(before + 1).compactMap { Int($0.sendId.dropFirst()) }
            let last = try #require(order.lastIndex { $0 < 40 })
            // A ninth of the places serves the others meanwhile.
            #expect(last <= 60, "the last critical one was attempt \(last)")
            #expect(try await bench.store.circuits().isEmpty)
        }
    }

    @Test("another app, and another credential, go on")
    func others() async throws {
        try await SendingBench.with { bench in
            try await enqueue(bench, 100, app: "a")
            let sender = ScriptedProvider()
            sender.answer { _, token in token.hasPrefix("fcm-a-") ? .fcm(500, "INTERNAL") : nil }
            try await bench.dispatch(sender, slowly)
            try await enqueue(bench, 20, app: "b")
            try await bench.dispatch(sender, slowly)
            #expect(try await bench.count("pushFinished f JOIN pushQueues q USING (queue) WHERE q.app = 'b'") == 20)
        }
    }

    @Test("failures between successes are retries, no outage")
    func partial() async throws {
        try await SendingBench.with { bench in
            try await enqueue(bench, 200)
            let sender = ScriptedProvider()
            sender.answer { _, token in (Int(token.split(separator: "-").last ?? "") ?? 0).isMultiple(of: 3) ? .fcm(500, "INTERNAL") : nil }
            try await bench.dispatch(sender, slowly)
            #expect(try await bench.store.circuits().isEmpty)
            #expect(try await bench.store.backlog().retrying == 67)
        }
    }

    @Test("an unanswered at-most-once delivery ends, and does not wait for the end of the outage")
    func atMostOnce() async throws {
        try await SendingBench.with { bench in
            try await enqueue(bench, 60)
            try await bench.enqueue(
                #"{"sendId": "once", "token": "fcm-once", "provider": "fcm", "app": "a", "title": "t", "policy": "at_most_once"}"#
            )
            let sender = ScriptedProvider()
            var unanswered = PushOutcome.down
            unanswered.outcomeUnknown = true
            sender.answer(unanswered)
            try await bench.dispatch(sender) {
                slowly(&$0)
                $0.capacity = 100
                $0.claimLimit = 100
            }
            #expect(try await bench.send("once").state == .failed)
        }
    }
}

extension PushOutcome {
    /// Nobody listens at the provider's address.
    static let down: PushOutcome = {
        var outcome = PushOutcome.failed(ReasonMapping.network, detail: "connection refused")
        outcome.refusalScope = .provider
        return outcome
    }()
}

@Suite("Evidence for circuits")
struct GateEvidenceTests {
    private let key = GateEvidence.Key(
        scope: PushScope(provider: .apns, app: "a", environment: .production, platform: .ios, topic: "a"),
        credential: "k"
    )
    private let start = Timestamp(microseconds: 1_800_000_000_000_000)

    @Test("twenty failures in a row of different pushes are an outage; of one push they are its own")
    func run() {
        var many = GateEvidence()
        let verdicts = (1...20).map { many.fail(.failing, key, operationKey: "push-\($0)", at: start) }
        #expect(verdicts.firstIndex(of: true) == 19)
        var one = GateEvidence()
        let own = (1...100).map { _ in one.fail(.failing, key, operationKey: "push", at: start) }
        #expect(!own.contains(true))
    }

    @Test("six over three seconds are one, too; a success between them begins anew")
    func slowRun() {
        var evidence = GateEvidence()
        let verdicts = (0..<8).map { evidence.fail(.unreachable, key, operationKey: "push-\($0)", at: start + .seconds(Double($0) * 0.6)) }
        #expect(verdicts.firstIndex(of: true) == 5)
        evidence.healthy(key)
        let fresh = evidence.fail(.unreachable, key, operationKey: "push-9", at: start + .seconds(9))
        #expect(!fresh)
    }

    @Test("pushes of one group that are refused each for itself say nothing of the scope; refusals that go on do")
    func group() {
        var evidence = GateEvidence()
        evidence.accept(key, operationKey: "y", at: start)
        let group = (1...4).map {
            evidence.assess(refusedBy: .credential, key, operationKey: "x-\($0)", at: start + .milliseconds(10 + $0))
        }
        #expect(group == Array(repeating: .delivery(times: 1), count: 4))
        let later = evidence.assess(refusedBy: .credential, key, operationKey: "x-5", at: start + .milliseconds(300))
        #expect(later == .scope(unlessAcceptedSince: start + .milliseconds(11)))
    }

    @Test("a refusal counts for the scope unless others of it are accepted around it")
    func judgement() {
        var evidence = GateEvidence()
        let first = evidence.assess(refusedBy: .credential, key, operationKey: "x", at: start)
        #expect(first == .scope(unlessAcceptedSince: start - .seconds(5)))
        evidence.accept(key, operationKey: "y", at: start + .seconds(1))
        let second = evidence.assess(refusedBy: .credential, key, operationKey: "x", at: start + .seconds(60))
        #expect(second == .delivery(times: 1))
        // Nothing was accepted since its last attempt.
        let third = evidence.assess(refusedBy: .credential, key, operationKey: "x", at: start + .seconds(120))
        #expect(third == .scope(unlessAcceptedSince: start + .seconds(60)))
        // An accepted push of another topic contradicts a refused credential, and not a refused topic.
        var other = key
        other.scope.topic = "a.voip"
        evidence.accept(other, operationKey: "z", at: start + .seconds(121))
        let topic = evidence.assess(refusedBy: .topic, key, operationKey: "w", at: start + .seconds(122))
        #expect(topic == .scope(unlessAcceptedSince: start + .seconds(117)))
        let credential = evidence.assess(refusedBy: .credential, key, operationKey: "v", at: start + .seconds(122))
        #expect(credential == .delivery(times: 1))
    }
}
