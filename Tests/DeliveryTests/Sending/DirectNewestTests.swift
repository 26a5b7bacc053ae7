import Logging
import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase
import TestSupport
import Testing

@testable import Delivery

@Suite("Sends with a collapseId that are leased in the transaction that stores them")
struct DirectNewestTests {
    enum Target: String, CaseIterable {
        case device, token

        /// To the phone of this number, or to its token.
        func members(_ number: Int) -> String {
            switch self {
            case .device: #""deviceId": "phone-\#(number)""#
            case .token: #""token": "\#(SendingBench.token(number))", "provider": "apns", "app": "com.example.app""#
            }
        }
    }

    private func send(_ sendId: String, to target: Target, _ number: Int = 1, version: Int? = nil) -> String {
        let version = version.map { #", "version": \#($0)"# } ?? ""
        return #"{"sendId": "\#(sendId)", "title": "t", "collapseId": "match-7"\#(version), \#(target.members(number))}"#
    }

    /// With phones that are registered, and a queue that is made and empty.
    private func with(phones: Int, _ body: (SendingBench) async throws -> Void) async throws {
        try await SendingBench.with { bench in
            for number in 1...phones {
                try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number))
            }
            try await bench.enqueue(#"{"sendId": "first", "deviceId": "phone-1"}"#)
            try await bench.dispatch(ScriptedProvider())
            try await body(bench)
        }
    }

    @Test("one for which there is a slot never waits in the queue, and is in flight from the start", arguments: Target.allCases)
    func direct(_ target: Target) async throws {
        try await with(phones: 1) { bench in
            try await bench.refuse("INSERT", on: "pushReady", when: "true")
            let provider = ClosedProvider()
            let dispatcher = bench.dispatcher({ _, _, _ in provider })
            let enqueueService = bench.enqueueService(dispatcher)
            let post = try bench.post(send("s", to: target))
            try await withServices([dispatcher, enqueueService]) {
                // The dispatcher has to see first that the queue is empty.
                try await eventually("it is stored") { try await bench.unlessRefused { try await enqueueService.submit(post) } != nil }
                let flights = try await bench.pool.query(
                    """
                    SELECT d.collapseKey = n.collapseKey, n.inFlightUntil > clock_timestamp() + interval '20 seconds'
                    FROM pushNewest n JOIN pushDeliveries d ON d.deliveryId = n.inFlight WHERE d.sendId = 's'
                    """
                ).map { try $0.decode((Bool, Bool).self) }
                // A delivery to a device has another row for its token.
                try #require(flights.count == 1)
                #expect(flights[0] == (target == .token, true))
                #expect(try await bench.send("s").state == .sending)
                provider.open()
                try await eventually("it is sent") { try await bench.send("s").state == .sent }
                try await eventually("it has landed") { try await bench.count("pushLeases") == 0 }
            }
            #expect(try await bench.pool.query("SELECT count(*) FROM pushNewest WHERE inFlight IS NOT NULL")[0].decode(Int.self) == 0)
            #expect(try await bench.status(of: "s") == [.sent])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("while one is in flight the next waits, and the one after that replaces it", arguments: Target.allCases)
    func inFlight(_ target: Target) async throws {
        try await with(phones: 1) { bench in
            let provider = ClosedProvider()
            let dispatcher = bench.dispatcher({ _, _, _ in provider }) { $0.sweep = .milliseconds(1) }
            let enqueueService = bench.enqueueService(dispatcher)
            try await withServices([dispatcher, enqueueService]) {
                _ = try await enqueueService.submit(try bench.post(send("45", to: target)))
                try await eventually("it is with the provider") { provider.sendIds == ["45"] }
                _ = try await enqueueService.submit(try bench.post(send("46", to: target)))
                try await eventually("it waits") { try await bench.send("46").state == .scheduled }
                _ = try await enqueueService.submit(try bench.post(send("47", to: target)))
                #expect(try await bench.send("46").state == .superseded)
                try await eventually("it waits") { try await bench.send("47").state == .scheduled }
                provider.open()
                try await eventually("it is sent") { try await bench.send("47").state == .sent }
            }
            #expect(provider.sendIds == ["45", "47"])
            #expect(try await bench.send("46").attempts.isEmpty)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("of those in one request only the newest is leased, also where some are to devices and some to tokens")
    func oneRequest() async throws {
        try await with(phones: 2) { bench in
            let provider = ScriptedProvider()
            let dispatcher = bench.dispatcher(provider.lookup)
            let enqueueService = bench.enqueueService(dispatcher)
            try await bench.refuse("INSERT", on: "pushReady", when: "true")
            let together = try bench.post("[\(send("old", to: .device)),\(send("other", to: .device, 2)),\(send("new", to: .device))]")
            let mixed = try bench.post("[\(send("device", to: .device)),\(send("token", to: .token, 2))]")
            try await withServices([dispatcher, enqueueService]) {
                try await eventually("they are stored") {
                    try await bench.unlessRefused { try await enqueueService.submit(together) } != nil
                }
                try await eventually("they are sent") { try await bench.count("pushLeases") == 0 }
                _ = try await enqueueService.submit(mixed)
                try await eventually("they are sent") { try await bench.count("pushLeases") == 0 }
            }
            #expect(try await bench.send("old").state == .superseded)
            #expect(Set(provider.calls.map(\.sendId)) == ["other", "new", "device", "token"])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("one with a lower version than its token was sent is not attempted; after one without a version it is leased at once")
    func versions() async throws {
        try await with(phones: 1) { bench in
            let provider = ScriptedProvider()
            let dispatcher = bench.dispatcher(provider.lookup) { $0.sweep = .milliseconds(1) }
            let enqueueService = bench.enqueueService(dispatcher)
            let lower = try bench.post("[\(send("plain", to: .device)),\(send("v3", to: .device, version: 3))]")
            try await withServices([dispatcher, enqueueService]) {
                _ = try await enqueueService.submit(try bench.post(send("v10", to: .token, version: 10)))
                try await eventually("it is sent") { try await bench.send("v10").state == .sent }
                _ = try await enqueueService.submit(try bench.post(send("v9", to: .device, version: 9)))
                try await eventually("it has ended") { try await bench.count("pushFinished WHERE outcome = 'superseded'") == 1 }
                try await bench.refuse("INSERT", on: "pushReady", when: "true")
                try await eventually("they are stored") { try await bench.unlessRefused { try await enqueueService.submit(lower) } != nil }
                try await eventually("it is sent") { try await bench.send("v3").state == .sent }
                try await eventually("they have landed") { try await bench.count("pushLeases") == 0 }
            }
            #expect(provider.calls.map(\.sendId) == ["v10", "v3"])
            #expect(try await bench.send("v9").attempts.isEmpty)
            #expect(try await bench.send("plain").state == .superseded)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("score updates to devices and their tokens by two instances: no token gets an older one after a newer one, and nobody deadlocks")
    func scores() async throws {
        let (phones, updates) = (40, 30)
        try await with(phones: phones) { bench in
            let provider = ScoreProvider()
            let log = RecordingLog { "\($0.message) \($0.metadata ?? [:])".contains(/deadlock|40P01/) }
            let pool = PostgresPool(configuration: bench.pool.configuration, logger: log.logger)
            defer { pool.close() }
            let logging = SendingBench(
                pool: pool,
                store: SendStore(pool: pool, cipher: bench.cipher, record: AttemptRecording.recorder(slot: 9, logger: .silent)),
                throttles: ThrottleStore(pool: pool),
                devices: bench.devices,
                cipher: bench.cipher
            )
            let dispatchers = ["one", "two"].map { worker in
                logging.dispatcher({ _, _, _ in provider }, logger: log.logger) {
                    $0.worker = worker
                    $0.sweep = .milliseconds(1)
                }
            }
            let services = dispatchers.map { logging.enqueueService($0, logger: log.logger) }
            try await withServices(dispatchers + services) {
                var generator = SplitMix64(seed: 7)
                for update in 1...updates {
                    // Of one phone some updates are to the device and some to its token, so that keys are locked from both sides.
                    let targets = (1...phones).shuffled(using: &generator).map { number in
                        (number, Target.allCases.randomElement(using: &generator) ?? .device)
                    }
                    try await withThrowingTaskGroup(of: Void.self) { tasks in
                        for (place, (number, target)) in targets.enumerated() {
                            let json =
                                #"{"sendId": "u\#(update)-\#(number)", "title": "\#(update)", "collapseId": "match", \#(target.members(number))}"#
                            let post = try bench.post(json)
                            tasks.addTask { _ = try await services[place % 2].submit(post) }
                        }
                        try await tasks.waitForAll()
                    }
                }
                try await eventually("all have ended") {
                    try await bench.count("pushReady") + bench.count("pushScheduled") + bench.count("pushLeases") == 0
                }
            }
            #expect(provider.overtaken == [])
            #expect(Set(provider.accepted.values) == [updates] && provider.accepted.count == phones)
            #expect(log.events.isEmpty, "\(log.events)")
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("PostgreSQL keeps the plans of the statements that store and lease them, however many there are")
    func plans() async throws {
        try await with(phones: 1) { bench in
            let plans = try await bench.pool.withConnection { connection in
                try await connection.perform { connection in
                    for (round, count) in [80, 12, 200, 1, 60, 40, 90, 100].enumerated() {
                        let json = (0..<count).map { number in
                            #"{"sendId": "s\#(round)-\#(number)", "collapseId": "\#(number)", \#(Target.device.members(1))}"#
                        }
                        let requests = try bench.post("[\(json.joined(separator: ","))]").requests
                        let entries = requests.map { request in
                            WaitingDelivery(
                                send: request,
                                delivery: NewDelivery(
                                    uid: "user-1",
                                    deviceId: "phone-1",
                                    platform: .ios,
                                    provider: .apns,
                                    environment: .production,
                                    app: "com.example.app"
                                ),
                                queue: SendQueue(
                                    id: 1,
                                    app: "com.example.app",
                                    provider: .apns,
                                    environment: .production,
                                    deliveryClass: .normal
                                ),
                                requestId: "r",
                                isDirect: true
                            )
                        }
                        let flights = try NewestQueries.insert(entries, now: .now(), on: connection)
                        #expect(flights.count == count)
                        #expect(try connection.query(NewestQueries.lease(flights, lease: .seconds(60), worker: "test")).count <= count)
                    }
                    return try connection.query(
                        """
                        SELECT custom_plans, generic_plans FROM pg_prepared_statements
                        WHERE statement LIKE 'WITH%pushNewest%' ORDER BY prepare_time
                        """
                    ).map { try $0.decode((Int, Int).self) }
                }
            }
            // The first five are always planned.
            #expect(plans.count == 2 && plans.allSatisfy { $0 == (5, 3) }, "\(plans)")
        }
    }
}
