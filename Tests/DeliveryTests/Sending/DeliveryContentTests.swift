import HTTPServer
import Postgres
import Providers
import PushContract
import ServiceKit
import Synchronization
import TestDatabase
import Testing

@testable import Delivery

@Suite("What deliveries show")
struct DeliveryContentTests {
    private static let app = "com.example.app"

    @Test("one content for deliveries of a send that follow each other, by app and by locale if it names a text")
    func shared() throws {
        let texts = SendTexts(["*": ["goal": ["en": .init(title: "Goal"), "de": .init(title: "Tor")]]])
        var contents = DeliveryContents(texts: texts)
        var read = 0
        func content(_ sendId: String, _ stored: String, app: String = Self.app, _ locale: String? = nil) -> DeliveryContent {
            func text() -> String {
                read += 1
                return stored
            }
            return contents.content(of: sendId, stored: text(), provider: .apns, app: app, locale: locale, expiresAt: .now())
        }
        let title = #"{"title":"a"}"#
        let first = content("a", title)
        #expect(content("a", title, "de") === first && read == 1)
        #expect(content("a", title, app: "com.example.other") !== first && read == 1)
        #expect(try first.message.get().payload?.bytes == Array(#"{"aps":{"alert":{"title":"a"}}}"#.utf8))
        let goal = #"{"text":{"name":"goal"}}"#
        let german = content("b", goal, "de")
        #expect(content("b", goal, "en") !== german && content("b", goal, "de") === german && read == 2)
        #expect(try german.message.get().title == "Tor")
        #expect(content("a", title) !== first && read == 3)
    }

    @Test("what cannot be parsed or is refused by the provider's rules fails where it is sent, not where it is claimed")
    func faults() throws {
        var contents = DeliveryContents(texts: .standard)
        func content(_ sendId: String, _ stored: String) -> DeliveryContent {
            contents.content(of: sendId, stored: stored, provider: .apns, app: Self.app, locale: nil, expiresAt: .now())
        }
        #expect(throws: PushError.self) { try content("a", "no JSON").message.get() }
        #expect(try content("b", "{}").message.get().payload == nil)
    }

    @Test("a claim has the content of each send, whatever the order of its deliveries")
    func claim() async throws {
        try await SendingBench.with { bench in
            let tokens = (1...4).map { SendingBench.token($0) }
            func send(_ sendId: String, _ tokens: ArraySlice<String>) async throws {
                let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
                try await bench.enqueue(
                    #"{"sendId": "\#(sendId)", "tokens": [\#(list)], "provider": "apns", "app": "\#(Self.app)", "title": "of \#(sendId)"}"#
                )
            }
            try await send("a", tokens[0..<2])
            try await send("b", tokens[2..<3])
            try await send("c", tokens[0..<4])
            // Retries come back between those of other sends.
            try await bench.pool.execute(
                """
                WITH back AS (DELETE FROM pushReady RETURNING *)
                INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
                SELECT queue, deliveryId, attemptNumber, readyAt FROM back ORDER BY deliveryId * 2 % 7
                """
            )
            let claimed = try await bench.claim()
            #expect(claimed.count == 7)
            for delivery in claimed { #expect(try delivery.content?.message.get().title == "of \(delivery.sendId ?? "")") }
            let next = zip(claimed, claimed.dropFirst()).filter { $0.sendId == $1.sendId }
            #expect(!next.isEmpty && next.allSatisfy { $0.content === $1.content })
        }
    }

    @Test("a delivery that is leased as it is stored is the same as one that is claimed from the queue")
    func direct() async throws {
        let texts = SendTexts(["*": ["goal": ["en": .init(title: "Goal"), "de": .init(title: "Tor")]]])
        try await SendingBench.with { bench in
            let store = SendStore(
                pool: bench.pool,
                cipher: bench.cipher,
                texts: texts,
                record: AttemptRecording.recorder(slot: 9, logger: .silent)
            )
            let dispatcher = SendDispatcher(
                store: store,
                throttles: bench.throttles,
                lookup: ScriptedProvider().lookup,
                configuration: DispatcherConfiguration(delays: .quick(.zero), worker: "test"),
                logger: .silent
            )
            for (number, locale) in [(1, "de"), (2, nil), (3, "fr")] as [(Int, String?)] {
                try await bench.register(
                    "user-\(number)",
                    "device-\(number)",
                    token: SendingBench.token(number),
                    app: Self.app,
                    appVersion: "1.\(number)",
                    locale: locale
                )
            }
            try await bench.pool.execute(
                """
                UPDATE devices SET tokenState = 'suspect', tokenStateCause = 'test', environmentTrial = 'trying' WHERE userId = 'user-2'
                """
            )
            let dead = try PushToken(SendingBench.token(9), provider: .apns)
            try await bench.pool.execute(
                """
                INSERT INTO deadTokens (tokenHash, provider, app, cause, since)
                VALUES (\(dead.hash.rawValue), 'apns', \(Self.app), 'Unregistered', now())
                """
            )
            func token(_ number: Int) -> String {
                #""token": "\#(SendingBench.token(number))", "provider": "apns", "app": "\#(Self.app)""#
            }
            let sends = [
                #""uid": "user-1", "text": {"name": "goal"}"#,
                #""deviceId": "device-2", "title": "t", "data": {"a": [1, "x"]}, "class": "critical""#,
                #""uid": "user-3", "text": {"name": "goal"}, "policy": "at_most_once", "class": "bulk""#,
                "\(token(5)), \"title\": \"t\", \"priority\": \"low\"",
                "\(token(6)), \"uid\": \"somebody\", \"badge\": 3",
                "\(token(9)), \"title\": \"t\"",
            ]
            func posts(_ prefix: String, _ now: Timestamp) throws -> [SendPost] {
                try sends.enumerated().map { try bench.post("{\"sendId\": \"\(prefix)-\($0)\", \($1)}", now: now) }
            }
            let start = ContinuousClock.now
            func comparable(_ delivery: ClaimedDelivery) throws -> String {
                var delivery = delivery
                let message = try delivery.content?.message.get()
                (delivery.deliveryId, delivery.leaseToken, delivery.seq, delivery.content) = (0, 0, 0, nil)
                delivery.claimedAt = Timestamp(microseconds: 0)
                delivery.receivedAt = start
                // Claims are of one queue each.
                delivery.leaseSize = 0
                delivery.sendId = delivery.sendId.map { String($0.suffix(1)) }
                return "\(delivery) \(delivery.token?.rawValue ?? "") \(String(describing: message))"
            }
            let now = Timestamp.now()
            let check = SendValidation.checker(ScriptedProvider().lookup, texts: texts)
            _ = try await store.enqueue(try posts("queue", now), check: check)
            var claimed: [ClaimedDelivery] = []
            for queue in try await store.queues() {
                claimed += try await store.claim(queue: queue.queue.id, cursor: 0, limit: 10, lease: .seconds(60), worker: "other")
            }
            let queues = try await store.queues()
            dispatcher.direct.withLock { direct in
                direct.open()
                direct.look(at: queues, throttles: [], now: .now)
            }
            let leases = DirectLeases(for: dispatcher, expected: 0)
            _ = try await store.enqueue(try posts("direct", now), direct: leases, check: check)
            #expect(leases.start() == sends.count)
            dispatcher.started.continuation.finish()
            var direct: [ClaimedDelivery] = []
            for await started in dispatcher.started.stream { direct += started.map(\.delivery) }
            let expected = try claimed.map(comparable).sorted()
            #expect(expected.count == sends.count)
            #expect(try direct.map(comparable).sorted() == expected)
            let leased = try await bench.pool.query("SELECT count(*), count(tokenHash) FROM pushLeasedDeliveries WHERE worker = 'test'")[0]
                .decode((Int, Int).self)
            #expect(leased == (6, 6))
        }
    }
}
