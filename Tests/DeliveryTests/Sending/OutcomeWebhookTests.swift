import Crypto
import Foundation
import HTTPClient
import HTTPServer
import Logging
import Postgres
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestDatabase
import Testing

@testable import Delivery

/// What a webhook received, and what it answers.
private final class WebhookEndpoint: Sendable {
    private struct State {
        var requests: [OutboundRequest] = []
        var taken: [JSONValue] = []
    }

    private let state = Mutex(State())
    private let answer: @Sendable (Int) async throws -> Int

    /// - Parameter answer: the status of a request, by how many came before it.
    init(_ answer: @escaping @Sendable (Int) async throws -> Int = { _ in 204 }) { self.answer = answer }

    var requests: [OutboundRequest] { state.withLock { $0.requests } }
    /// Outcomes of requests that were answered with 2xx.
    var taken: [JSONValue] { state.withLock { $0.taken } }

    func send(_ request: OutboundRequest) async throws -> OutboundResponse {
        let number = state.withLock { state in
            state.requests.append(request)
            return state.requests.count - 1
        }
        let status = try await answer(number)
        if status / 100 == 2, case .array(let outcomes)? = try JSONParser.parse(request.body)["data"]?["outcomes"] {
            state.withLock { $0.taken += outcomes }
        }
        return OutboundResponse(status: status)
    }
}

@Suite("Webhooks with outcomes of sends")
struct OutcomeWebhookTests {
    private static let keys = ["one", "two"].map { Data(String(repeating: $0, count: 8).utf8) }
    private static let secrets = keys.compactMap { try? WebhookSecret("whsec_" + $0.base64EncodedString()) }

    private func webhook(_ name: String = "orders") -> OutcomeWebhook {
        OutcomeWebhook(name: name, url: "https://orders.example/outcomes?token=t0ps3cret", secrets: Self.secrets)
    }

    private func sender(
        _ bench: SendingBench,
        _ webhook: OutcomeWebhook,
        _ endpoint: WebhookEndpoint,
        holder: String = "one"
    ) -> OutcomeWebhookSender {
        OutcomeWebhookSender([webhook], pool: bench.pool, holder: holder, logger: .silent, send: { try await endpoint.send($0) })
    }

    /// Sends what there is. As if the waits for retries were over.
    private func deliverAll(_ bench: SendingBench, _ sender: OutcomeWebhookSender, _ webhook: OutcomeWebhook, looks: Int = 1) async throws {
        var memory = OutcomeWebhookSender.Memory()
        for _ in 0..<looks {
            while try await sender.deliver(webhook, &memory) {}
            try await bench.pool.execute("UPDATE pushOutcomeWebhooks SET nextAttemptAt = clock_timestamp()")
        }
        try await sender.release(webhook)
    }

    private func all(_ bench: SendingBench, after cursor: OutcomeCursor = .start) async throws -> [JSONValue] {
        try await OutcomeStream(pool: bench.pool).page(after: cursor, limit: 1000).outcomes
    }

    @Test("an outcome request is retried with back-off without a response, and skipped after a day of rejections")
    func decisions() {
        func next(_ verdict: ResponseVerdict?, hours: Int = 0, failures: Int = 1) -> OutcomeWebhookDecision {
            let now = Timestamp(microseconds: 1_000_000_000_000_000)
            return .next(verdict, failures: failures, failingSince: now - .seconds(hours * 3600), now: now, jitter: 0)
        }
        let now = Timestamp(microseconds: 1_000_000_000_000_000)
        #expect(next(.delivered) == .delivered)
        #expect(next(nil) == .retry(at: now + .milliseconds(500)))
        #expect(next(nil, hours: 1000, failures: 40) == .retry(at: now + .seconds(150)))
        #expect(next(.retry(after: .seconds(60)), hours: 1000) == .retry(at: now + .seconds(60)))
        #expect(next(.deadLettered, hours: 23) == .retry(at: now + .milliseconds(500)))
        #expect(next(.deadLettered, hours: 25) == .skip)
    }

    @Test("a webhook is sent the events, of the apps and of the keys that it names")
    func filter() async throws {
        try await SendingBench.with { bench in
            var webhook = webhook()
            webhook.apps = ["com.a"]
            webhook.authors = ["test"]
            webhook.events = ["accepted", "sent"]
            let endpoint = WebhookEndpoint()
            let sender = sender(bench, webhook, endpoint)
            try await deliverAll(bench, sender, webhook)
            for (number, app) in ["com.a", "com.b", "com.a"].enumerated() {
                try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number), app: app)
                try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "u\#(number)", "app": "\#(app)"}"#)
            }
            try await bench.pool.execute("UPDATE pushSends SET author = 'other' WHERE sendId = 's2'")
            try await bench.dispatch(ScriptedProvider([SendingBench.token(0): [.apns(503, "ServiceUnavailable")]]))
            try await deliverAll(bench, sender, webhook)
            // "accepted" names no app.
            #expect(endpoint.taken.map { $0["sendId"] } == ["s0"] && endpoint.taken.map { $0["event"] } == ["sent"])
        }
    }

    @Test("a webhook that is sent little comes past what it is not sent, however much that is and however often its lease is taken anew")
    func search() async throws {
        try await SendingBench.with { bench in
            var webhook = webhook()
            webhook.events = ["superseded"]
            let endpoint = WebhookEndpoint()
            let sender = sender(bench, webhook, endpoint)
            var memory = OutcomeWebhookSender.Memory()
            _ = try await sender.deliver(webhook, &memory)
            for _ in 0..<3 {
                try await bench.pool.execute(
                    """
                    INSERT INTO pushOutcomes (outcomes, count)
                    SELECT '[{"event": "accepted", "sendId": "none"}]', 1 FROM generate_series(1, 600)
                    """
                )
            }
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            for sendId in ["a", "b"] { try await bench.enqueue(#"{"sendId": "\#(sendId)", "uid": "ann", "collapseId": "c"}"#) }
            try await bench.dispatch(ScriptedProvider())
            for _ in 0..<8 {
                memory.claimedAt -= .seconds(11)
                _ = try await sender.deliver(webhook, &memory)
            }
            #expect(endpoint.taken.map { $0["sendId"] } == ["a"])
        }
    }

    @Test("an endpoint that fails at random and two instances that take turns: every outcome is taken, once and in order by its cursor")
    func order() async throws {
        try await SendingBench.with { bench in
            let webhook = webhook()
            let endpoint = WebhookEndpoint { _ in
                switch Int.random(in: 0..<3) {
                case 0: throw OutboundFailure(.unanswered, .timeout, detail: "silent")
                case 1: [500, 429, 404][Int.random(in: 0..<3)]
                default: 204
                }
            }
            let senders = ["one", "two"].map { sender(bench, webhook, endpoint, holder: $0) }
            // It begins at the end of the stream.
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "before", "uid": "ann"}"#)
            try await deliverAll(bench, senders[0], webhook)
            let start = try await OutcomeStream(pool: bench.pool).end()
            for round in 0..<6 {
                for send in 0..<30 { try await bench.enqueue(#"{"sendId": "s\#(round)-\#(send)", "uid": "ann"}"#) }
                try await bench.dispatch(ScriptedProvider())
                try await deliverAll(bench, senders[round % 2], webhook, looks: 5)
            }
            try await deliverAll(bench, senders[0], webhook, looks: 200)
            let expected = try await all(bench, after: start)
            // Accepted and sent; what was accepted before is sent with the first round.
            #expect(expected.count == 361)
            #expect(endpoint.taken == expected)
            #expect(Set(endpoint.requests.map { $0.body.count }).count > 1)
        }
    }

    @Test("an instance that is shut down hands its webhook over at once, whether its last request failed or not", arguments: [500, 204])
    func handOver(status: Int) async throws {
        try await SendingBench.with { bench in
            let webhook = webhook()
            let (requests, asked) = AsyncStream.makeStream(of: Void.self)
            let first = WebhookEndpoint { _ in
                asked.yield()
                return status
            }
            let second = WebhookEndpoint()
            try await deliverAll(bench, sender(bench, webhook, second, holder: "two"), webhook)
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "first", "uid": "ann"}"#)
            let running = ServiceGroup(services: [sender(bench, webhook, first)], logger: .silent)
            try await withThrowingTaskGroup { group in
                group.addTask { try await running.run() }
                for await _ in requests { break }
                await running.triggerGracefulShutdown()
                try await group.waitForAll()
            }
            try await bench.enqueue(#"{"sendId": "second", "uid": "ann"}"#)
            try await deliverAll(bench, sender(bench, webhook, second, holder: "two"), webhook, looks: 2)
            #expect(second.taken.map { $0["sendId"] } == (status == 204 ? ["second"] : ["first", "second"]))
        }
    }

    @Test("requests are signed with each secret; their id is the same when they are repeated")
    func signature() async throws {
        try await SendingBench.with { bench in
            let webhook = webhook()
            let endpoint = WebhookEndpoint { $0 == 0 ? 503 : 200 }
            let sender = sender(bench, webhook, endpoint)
            try await deliverAll(bench, sender, webhook)
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "s", "uid": "ann"}"#)
            try await deliverAll(bench, sender, webhook, looks: 2)
            #expect(endpoint.requests.count == 2)
            let ids = endpoint.requests.map { $0.headers.first { $0.name == "webhook-id" }?.value }
            #expect(ids[0] == ids[1] && ids[0] != nil)
            for request in endpoint.requests {
                let fields = Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first }
                let signed = Data("\(fields["webhook-id"] ?? "").\(fields["webhook-timestamp"] ?? "").".utf8) + Data(request.body)
                let signatures = (fields["webhook-signature"] ?? "").split(separator: " ")
                #expect(signatures.count == 2)
                for (signature, key) in zip(signatures, Self.keys) {
                    let code = try #require(Data(base64Encoded: String(signature.dropFirst(3))))
                    #expect(signature.hasPrefix("v1,"))
                    #expect(HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: SymmetricKey(data: key)))
                }
            }
        }
    }

    @Test("the id of a request is that of its outcomes: one meanwhile that the webhook is not sent does not change it, another one does")
    func sameOutcomes() async throws {
        try await SendingBench.with { bench in
            var webhook = webhook()
            webhook.events = ["accepted"]
            let endpoint = WebhookEndpoint { $0 < 2 ? 503 : 200 }
            let sender = sender(bench, webhook, endpoint)
            try await deliverAll(bench, sender, webhook)
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "first", "uid": "ann"}"#)
            try await deliverAll(bench, sender, webhook)
            try await bench.dispatch(ScriptedProvider())
            try await deliverAll(bench, sender, webhook)
            try await bench.enqueue(#"{"sendId": "second", "uid": "ann"}"#)
            try await deliverAll(bench, sender, webhook)
            let ids = endpoint.requests.compactMap { request in request.headers.first { $0.name == "webhook-id" }?.value }
            try #require(ids.count == 3)
            #expect(ids[0] == ids[1] && ids[1] != ids[2])
            #expect(endpoint.taken.map { $0["sendId"] } == ["first", "second"])
        }
    }

    @Test("a webhook ahead of the outcomes, as after a restore, continues at their end, with one error")
    func cursorAhead() async throws {
        try await SendingBench.with { bench in
            let webhook = webhook()
            let endpoint = WebhookEndpoint()
            let log = RecordingLog { $0.level == .error }
            let sender = OutcomeWebhookSender(
                [webhook],
                pool: bench.pool,
                holder: "one",
                logger: log.logger,
                send: { try await endpoint.send($0) }
            )
            try await deliverAll(bench, sender, webhook)
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "before", "uid": "ann"}"#)
            try await bench.pool.execute("UPDATE pushOutcomeWebhooks SET number = 1000")
            try await deliverAll(bench, sender, webhook)
            try await bench.enqueue(#"{"sendId": "after", "uid": "ann"}"#)
            try await deliverAll(bench, sender, webhook, looks: 2)
            #expect(endpoint.taken.map { $0["sendId"] } == ["after"])
            #expect(log.events.map { $0.metadata?["cursor"] } == ["1000-0"])
        }
    }

    @Test("a position that is remembered from before a failover is not stored: what is numbered anew is sent")
    func failedOver() async throws {
        try await SendingBench.with { bench in
            let webhook = webhook()
            let endpoint = WebhookEndpoint { number in
                if number == 0 {
                    // The standby did not have these outcomes yet.
                    try await bench.pool.execute("DELETE FROM pushOutcomes")
                    try await bench.pool.execute("UPDATE pushOutcomeNumbers SET lastNumber = 0")
                }
                return 200
            }
            let sender = sender(bench, webhook, endpoint)
            try await deliverAll(bench, sender, webhook)
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "lost", "uid": "ann"}"#)
            try await deliverAll(bench, sender, webhook)
            try await bench.enqueue(#"{"sendId": "new", "uid": "ann"}"#)
            try await deliverAll(bench, sender, webhook)
            #expect(endpoint.taken.map { $0["sendId"] } == ["lost", "new"])
        }
    }

    @Test("outcomes that are refused for a day are left out and counted, and can be replayed; the secret of the address is in no error")
    func refused() async throws {
        try await SendingBench.with { bench in
            let webhook = webhook()
            let store = OutcomeWebhookStore(pool: bench.pool)
            let endpoint = WebhookEndpoint { number in
                if number == 0 {
                    throw OutboundFailure(.notWritten, .connectRefused, detail: "\(webhook.url): refused")
                }
                return number < 3 ? 404 : 200
            }
            let sender = sender(bench, webhook, endpoint)
            try await deliverAll(bench, sender, webhook)
            let start = try await OutcomeStream(pool: bench.pool).end()
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "refused", "uid": "ann"}"#)
            try await deliverAll(bench, sender, webhook)
            #expect(try await store.all()[0].lastError?.contains("t0ps3cret") == false)
            try await deliverAll(bench, sender, webhook)
            var status = try await store.all()[0]
            #expect(status.failures == 2 && status.cursor == start.text && status.lastError == "HTTP 404" && status.waitingSince != nil)
            try await bench.pool.execute("UPDATE pushOutcomeWebhooks SET failingSince = failingSince - interval '25 hours'")
            try await deliverAll(bench, sender, webhook)
            status = try await store.all()[0]
            #expect(
                status.failures == 0 && status.deadLettered == 1 && status.deadLetteredAfter == start.text && status.waitingSince == nil
            )
            try await bench.enqueue(#"{"sendId": "next", "uid": "ann"}"#)
            try await deliverAll(bench, sender, webhook)
            #expect(endpoint.taken.map { $0["sendId"] } == ["next"])
            _ = try await store.replay("orders", after: start, recording: .test())
            try await deliverAll(bench, sender, webhook)
            #expect(endpoint.taken.map { $0["sendId"] } == ["next", "refused", "next"])
            #expect(try await store.replay("nobody", after: start, recording: .test()) == nil)
            let now = try #require(OutcomeCursor(try await store.all()[0].cursor))
            for ahead in [OutcomeCursor(number: now.number, index: now.index + 1), OutcomeCursor(number: now.number + 1, index: 0)] {
                let problem = await #expect(throws: Problem.self) { try await store.replay("orders", after: ahead, recording: .test()) }
                #expect(problem?.detail.contains("the outcomes between would not be sent") == true)
            }
            #expect(try await store.all()[0].cursor == now.text)
            #expect(try await store.replay("orders", after: now, recording: .test()) != nil)
        }
    }

    @Test("a replay during a request is not undone by its end")
    func replayed() async throws {
        try await SendingBench.with { bench in
            let webhook = webhook()
            let store = OutcomeWebhookStore(pool: bench.pool)
            let endpoint = WebhookEndpoint { number in
                if number == 0 { _ = try await store.replay("orders", after: .start, recording: .test()) }
                return 200
            }
            let sender = sender(bench, webhook, endpoint)
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "before", "uid": "ann"}"#)
            try await deliverAll(bench, sender, webhook)
            try await bench.enqueue(#"{"sendId": "s", "uid": "ann"}"#)
            try await deliverAll(bench, sender, webhook, looks: 2)
            #expect(endpoint.taken.map { $0["sendId"] } == ["s", "before", "s"])
        }
    }
}
