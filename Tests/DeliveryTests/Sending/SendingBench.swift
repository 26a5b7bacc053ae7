import Attempts
import HTTPServer
import Logging
import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase

@testable import Delivery

/// A database of its own with the stores on it, and short ways to do what the tests do over and over.
struct SendingBench {
    let pool: PostgresPool
    let store: SendStore
    let throttles: ThrottleStore
    let devices: DeviceStore
    let cipher: TokenCipher

    static func with(
        fanOutSizes: FanOutSizes = FanOutSizes(),
        selection: (any DeviceSelection.Type)? = nil,
        _ body: (SendingBench) async throws -> Void
    ) async throws {
        try await withDatabase { pool in
            try await PartitionMaintenance(pool: pool, logger: .silent).maintain()
            let recorder = AttemptRecording.recorder(slot: 9, logger: .silent)
            let cipher = TokenCipher(.random())
            try await body(
                SendingBench(
                    pool: pool,
                    store: SendStore(pool: pool, cipher: cipher, fanOutSizes: fanOutSizes, selection: selection, record: recorder),
                    throttles: ThrottleStore(pool: pool),
                    devices: DeviceStore(pool: pool, cipher: cipher, record: recorder),
                    cipher: cipher
                )
            )
        }
    }

    /// Stores on one connection that looks rows up by index, so that plans and counted reads are those of its statements alone.
    func onOneConnection(_ body: (PostgresPool, SendStore) async throws -> Void) async throws {
        var configuration = pool.configuration
        configuration.maxConnections = 1
        configuration.looksUpByIndex = true
        let own = PostgresPool(configuration: configuration, logger: .silent)
        defer { own.close() }
        try await body(own, SendStore(pool: own, cipher: cipher, record: AttemptRecording.recorder(slot: 9, logger: .silent)))
    }

    /// The bench of a process with other keys.
    func withKeys(_ keySet: TokenKeySet) -> SendingBench {
        let cipher = TokenCipher(keySet)
        let store = SendStore(pool: pool, cipher: cipher, record: store.record)
        return SendingBench(pool: pool, store: store, throttles: throttles, devices: devices, cipher: cipher)
    }

    /// An APNs token that differs by its number.
    static func token(_ number: Int) -> String { String(repeating: "0", count: 60) + "\(1000 + number)" }

    @discardableResult
    func register(
        _ userId: String,
        _ deviceId: String,
        token: String,
        app: String = "com.example.app",
        appVersion: String? = nil,
        locale: String? = nil,
        at now: Timestamp = .now(),
        requestId: String? = nil
    ) async throws -> Device {
        try await devices.register(
            DeviceRegistration.iPhone(userId, deviceId, token: token, app: app, appVersion: appVersion, locale: locale),
            requestId: requestId ?? "register-\(userId)-\(deviceId)-\(now.microseconds)",
            now: now
        )
    }

    @discardableResult
    func enqueue(_ json: String, now: Timestamp = .now()) async throws -> [SendReceipt] {
        let batch = try SendBatch(try JSONParser.parse(Array(json.utf8)), limit: 10_000, now: now)
        let requests = batch.elements.compactMap { element in
            if case .request(let request) = element { request } else { nil }
        }
        return try await store.enqueue(requests, requestId: "request-1", author: "test", now: now, check: { _, _ in nil })
    }

    /// A probe is then due when another delivery is blocked or the test says so, and not because the test took a second.
    func delayProbes() async throws {
        try await pool.execute(
            """
            CREATE FUNCTION delayProbe() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF NEW.nextProbeAt > clock_timestamp() THEN NEW.nextProbeAt := NEW.nextProbeAt + interval '1 hour'; END IF;
                RETURN NEW;
            END $$
            """
        )
        try await pool.execute(
            "CREATE TRIGGER delayProbe BEFORE INSERT OR UPDATE ON pushCircuits FOR EACH ROW EXECUTE FUNCTION delayProbe()"
        )
    }

    /// Refuses no payload.
    func enqueueService(
        _ dispatcher: SendDispatcher? = nil,
        lockLimit: Duration? = EnqueueService.lockLimit,
        logger: Logger = .silent
    ) -> EnqueueService {
        EnqueueService(
            store: store,
            check: { _, _ in nil },
            dispatcher: dispatcher,
            wake: WakeSignal(),
            lockLimit: lockLimit,
            logger: logger
        )
    }

    /// Refuses no payload, and knows no provider.
    func dryRun(_ lookup: @escaping ProviderLookup = { _, _, _ in nil }) -> DryRun {
        DryRun(store: store, check: { _, _ in nil }, lookup: lookup)
    }

    /// One caller's request.
    func post(_ json: String, by author: String = "test", now: Timestamp = .now()) throws -> SendPost {
        let batch = try SendBatch(try JSONParser.parse(Array(json.utf8)), limit: 10_000, now: now)
        return SendPost(requests: batch.requests, requestId: "request-\(author)", author: author, apps: .all, now: now)
    }

    func dispatcher(
        _ lookup: @escaping ProviderLookup,
        logger: Logger = .silent,
        _ change: (inout DispatcherConfiguration) -> Void = { _ in }
    ) -> SendDispatcher {
        var configuration = DispatcherConfiguration(delays: .quick(.zero), worker: "test")
        change(&configuration)
        return SendDispatcher(store: store, throttles: throttles, lookup: lookup, configuration: configuration, logger: logger)
    }

    func dispatch(_ lookup: @escaping ProviderLookup, _ change: (inout DispatcherConfiguration) -> Void = { _ in }) async throws {
        try await dispatcher(lookup, change).runUntilIdle()
    }

    func dispatch(_ provider: ScriptedProvider, _ change: (inout DispatcherConfiguration) -> Void = { _ in }) async throws {
        try await dispatch(provider.lookup, change)
    }

    var outcomes: OutcomeStore<QueueDeliveries> { store.outcomes(QueueDeliveries(logger: .silent)) }

    /// What the pipeline makes of a provider's answer, without waiting.
    func outcome(of delivery: ClaimedDelivery, to token: PushToken, _ answer: PushOutcome) -> QueueDeliveries.Outcome {
        let push = delivery.push(to: token)
        let delays = RetryDelays()
        let now = delivery.claimedAt
        var findings = PushFindings(
            answer,
            of: push,
            credential: "",
            circuitsToClose: [],
            verdict: SendGate().assess(
                answer,
                PushScope(push.identity),
                hasOwnTopic: false,
                credential: "",
                operationKey: push.identity.operationKey,
                now: now
            ),
            startedAt: now
        )
        let next = OutcomeDecision.next(
            of: delivery,
            push,
            after: answer,
            &findings,
            now: now,
            delays: delays,
            random: 0
        )
        return DeliveryOutcome(
            attempt: Attempt(push.identity, answer, at: now),
            consequence: delivery.consequence(next, after: answer),
            findings: findings,
            lease: delivery.lease,
            at: now
        )
    }

    /// Claims up to `limit` deliveries of the only queue, as a worker would.
    func claim(_ limit: Int = 10, lease: Duration = .seconds(60)) async throws -> [ClaimedDelivery] {
        var claimed: [ClaimedDelivery] = []
        for queue in try await store.queues() where queue.first != nil {
            claimed += try await store.claim(queue: queue.queue.id, cursor: 0, limit: limit, lease: lease, worker: "other")
        }
        return claimed
    }

    func send(_ sendId: String) async throws -> StoredSend {
        guard let send = try await store.send(sendId) else { throw PostgresError(.decoding, "no such send") }
        return send
    }

    func count(_ table: String) async throws -> Int {
        try await pool.query("SELECT count(*) FROM \(raw: table)")[0].decode(Int.self)
    }

    /// Every delivery is in exactly one place.
    func deliveriesOutOfPlace() async throws -> Int {
        try await pool.query(
            """
            SELECT count(*) FROM (
                SELECT d.deliveryId FROM pushDeliveries d LEFT JOIN (
                    SELECT deliveryId FROM pushReady UNION ALL SELECT deliveryId FROM pushScheduled
                    UNION ALL SELECT deliveryId FROM pushLeasedDeliveries UNION ALL SELECT deliveryId FROM pushFinished
                    UNION ALL SELECT deliveryId FROM pushDead
                ) p USING (deliveryId)
                GROUP BY d.deliveryId HAVING count(p.deliveryId) <> 1
            ) x
            """
        )[0].decode(Int.self)
    }

    /// Sessions of this database that wait for a lock of others.
    func waitingForLocks() async throws -> Int {
        try await count("pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
    }

    func status(of sendId: String) async throws -> [AttemptStatus] { try await send(sendId).attempts.map(\.status) }
}

extension SendDispatcher {
    /// What one round claims.
    func claimed(_ queueClaims: inout QueueClaims, now: ContinuousClock.Instant = .now) async throws -> [ClaimedDelivery] {
        var claimed: [ClaimedDelivery] = []
        _ = try await round(&queueClaims, now: now) { claimed.append($0.delivery) }
        return claimed
    }
}
