import Postgres
import Providers
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Delivery

@Suite("Deliveries of features above")
struct QueuedKindTests {
    /// Says of each delivery what the test wants, and keeps what comes of it.
    private final class Kind: QueuedKind {
        enum Answer {
            case push
            case notBefore(Timestamp)
            case notWanted
            case unreadable(TokenCipherError)
        }

        let name = "test"
        let policy: DeliveryPolicy
        private let state = Mutex((answers: [String: Answer](), outcomes: [QueuedOutcome](), asked: [Int]()))

        init(_ policy: DeliveryPolicy = .atMostOnce) { self.policy = policy }

        var outcomes: [QueuedOutcome] { state.withLock { $0.outcomes } }
        /// How many deliveries each query was for.
        var asked: [Int] { state.withLock { $0.asked } }
        func answer(_ ownerKey: String, _ answer: Answer) { state.withLock { $0.answers[ownerKey] = answer } }

        func identity(of delivery: QueuedDelivery) -> AttemptIdentity {
            AttemptIdentity(
                uid: delivery.uid,
                platform: .ios,
                provider: .apns,
                environment: delivery.environment,
                app: delivery.app,
                tokenHash: delivery.tokenHash,
                operationKey: "test:\(delivery.ownerKey)",
                attemptNumber: delivery.attemptNumber,
                requestId: "r"
            )
        }

        func contents(of deliveries: [QueuedDelivery]) async throws -> [Int64: QueuedContent] {
            let token = try PushToken(SendingBench.token(1), provider: .apns)
            let content = #"{"title": "Goal"}"#
            return state.withLock { state in
                state.asked.append(deliveries.count)
                var contents: [Int64: QueuedContent] = [:]
                for delivery in deliveries {
                    switch state.answers[delivery.ownerKey] ?? .push {
                    case .push:
                        let push = Push(
                            identity(of: delivery),
                            messageId: delivery.ownerKey,
                            protection: .claim,
                            token: Push.Token(.delivery, countsAcceptance: false)
                        ) { now throws(PushError) in
                            .message(try PushMessage(content: content, expiresAt: now + .seconds(60)), to: token)
                        }
                        contents[delivery.deliveryId] = .push(push, to: token, note: "note of \(delivery.ownerKey)")
                    case .notBefore(let moment): contents[delivery.deliveryId] = .notBefore(moment)
                    case .unreadable(let fault): contents[delivery.deliveryId] = .unreadable(fault)
                    case .notWanted: break
                    }
                }
                return contents
            }
        }

        func apply(_ outcomes: [QueuedOutcome], on connection: BlockingConnection) throws {
            state.withLock { $0.outcomes += outcomes }
        }

        func report(_ outcome: QueuedOutcome) {}
    }

    private func with(_ kind: Kind, _ body: (SendingBench) async throws -> Void) async throws {
        try await SendingBench.with { bench in
            let kinds = QueuedKinds([kind], logger: .silent)
            let store = SendStore(pool: bench.pool, cipher: bench.cipher, kinds: kinds, record: bench.store.record)
            let devices = bench.devices
            try await body(
                SendingBench(pool: bench.pool, store: store, throttles: bench.throttles, devices: devices, cipher: bench.cipher)
            )
        }
    }

    @discardableResult
    private func enqueue(
        _ ownerKeys: [String],
        kind: String = "test",
        expiresIn: Duration = .seconds(600),
        _ bench: SendingBench
    ) async throws
        -> [Int64]
    {
        let hash = try PushToken(SendingBench.token(1), provider: .apns).hash.rawValue
        return try await bench.pool.performTransaction { connection in
            let deliveries = ownerKeys.map { ownerKey in
                NewQueuedDelivery(
                    kind: kind,
                    ownerKey: ownerKey,
                    uid: "ann",
                    deviceId: "phone",
                    platform: .ios,
                    provider: .apns,
                    environment: .production,
                    app: "com.example.app",
                    deliveryClass: .normal,
                    tokenHash: hash,
                    expiresAt: .now() + expiresIn
                )
            }
            return try DeliveryQueue.enqueue(deliveries, now: .now(), on: connection)
        }
    }

    @Test("a claim asks its owner once for all deliveries; each ends as the owner says, and the owner learns it with its own note")
    func supplied() async throws {
        let kind = Kind()
        try await with(kind) { bench in
            kind.answer("later", .notBefore(.now() + .seconds(3600)))
            kind.answer("gone", .notWanted)
            kind.answer("unread", .unreadable(.undecryptable(keyId: "k1")))
            kind.answer("keyless", .unreadable(.unknownKey("k2")))
            let ids = try await enqueue(["sent", "later", "gone", "unread", "keyless"], bench)
            #expect(ids == ids.sorted())
            try await enqueue(["late"], expiresIn: .seconds(-1), bench)
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(kind.asked == [6])
            #expect(sender.calls.count == 1)
            let outcomes = Dictionary(uniqueKeysWithValues: kind.outcomes.map { ($0.delivery.ownerKey, $0) })
            #expect(outcomes["sent"]?.note as? String == "note of sent")
            #expect(outcomes["sent"]?.attempt?.status == .sent)
            #expect(outcomes["gone"]?.next == .cancelled && outcomes["gone"]?.attempt == nil)
            #expect(outcomes["late"]?.next == .dead(.expired, reason: nil, providerErrorCode: nil))
            #expect(outcomes["unread"]?.next == .dead(.unreachable, reason: nil, providerErrorCode: "TokenUnreadable"))
            #expect(try await bench.count("pushScheduled WHERE attemptNumber = 1 AND runAt > now() + interval '50 minutes'") == 1)
            #expect(try await bench.count("pushScheduled WHERE attemptNumber = 1 AND runAt < now() + interval '50 minutes'") == 1)
            #expect(try await bench.count("notificationDeliveryAttempts WHERE requestId = 'r' AND sendId IS NULL") == 1)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a dead worker's delivery: at_most_once ends as unknown, at_least_once is attempted again; each attempt has its row")
    func reaped() async throws {
        for (policy, calls) in [(DeliveryPolicy.atMostOnce, 0), (.atLeastOnce, 1)] {
            let kind = Kind(policy)
            try await with(kind) { bench in
                try await enqueue(["a"], bench)
                #expect(try await bench.claim(lease: .zero).count == 1)
                let sender = ScriptedProvider()
                try await bench.dispatch(sender)
                #expect(sender.calls.count == calls)
                #expect(kind.outcomes.first?.attempt?.outcomeUnknown == true && kind.outcomes.first?.note == nil)
                #expect(kind.outcomes.count == calls + 1)
                #expect(try await bench.count("notificationDeliveryAttempts WHERE providerErrorCode = 'OutcomeUnknown'") == 1)
                #expect(try await bench.count("notificationDeliveryAttempts WHERE requestId = 'r'") == calls + 1)
            }
        }
    }

    @Test("a delivery of a kind that this instance does not know waits for one that does")
    func unknown() async throws {
        try await with(Kind()) { bench in
            try await enqueue(["a"], kind: "newer", bench)
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.isEmpty)
            #expect(try await bench.count("pushScheduled") == 1)
        }
    }

    @Test("deliveries of features above are forgotten after a week, and are no dead letters")
    func forgotten() async throws {
        let kind = Kind()
        try await with(kind) { bench in
            kind.answer("unread", .unreadable(.undecryptable(keyId: "k1")))
            try await enqueue(["sent", "unread"], bench)
            try await bench.dispatch(ScriptedProvider())
            #expect(try await bench.count("pushDead") == 1)
            let filter = DeadLetterFilter(since: .now() - .seconds(3600), until: .now() + .seconds(3600))
            #expect(try await bench.store.deadLetters(filter).isEmpty)
            #expect(try await bench.store.retryDeadLetters(filter, lifetime: .seconds(60), recording: .test()) == 0)
            #expect(try await bench.store.forgetQueued() == 0)
            try await bench.pool.execute("UPDATE pushDeliveries SET createdAt = createdAt - interval '8 days'")
            #expect(try await bench.store.forgetQueued() == 2)
            for table in ["pushDeliveries", "pushFinished", "pushDead"] { #expect(try await bench.count(table) == 0) }
        }
    }
}
