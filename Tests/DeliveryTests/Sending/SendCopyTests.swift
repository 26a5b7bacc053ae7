import Attempts
import Postgres
import PushContract
import ServiceKit
import TestDatabase
import TestSupport
import Testing

@testable import Delivery

@Suite("Storing many sends by COPY")
struct SendCopyTests {
    private func posted(_ numbers: Range<Int>, title: String = "t", to bench: SendingBench) async throws -> [SendReceipt] {
        let items = numbers.map { #"{"sendId": "s\#($0)", "uid": "ann", "title": "\#(title)"}"# }.joined(separator: ",")
        return try await bench.enqueue("[\(items)]")
    }

    private func accepted(_ receipts: some Sequence<SendReceipt>) -> Int {
        receipts.count { if case .accepted(deliveries: 1, _) = $0 { true } else { false } }
    }

    @Test("known sends among new ones are duplicates or conflicts, and the new ones are stored")
    func known() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            #expect(accepted(try await posted(0..<30, to: bench)) == 30)
            #expect(bench.store.expectation.expectsNewKeys())
            let repeated = try await posted(20..<50, to: bench)
            #expect(accepted(repeated.dropFirst(10)) == 20)
            #expect(repeated.prefix(10).allSatisfy { if case .duplicate(deliveries: 1, _) = $0 { true } else { false } })
            // The next batches are likely to have known sends too.
            #expect(!bench.store.expectation.expectsNewKeys())
            let other = try await posted(45..<60, title: "other", to: bench)
            #expect(other.prefix(5).allSatisfy { if case .conflict = $0 { true } else { false } } && accepted(other.dropFirst(5)) == 10)
            #expect(try await bench.count("pushSends") == 60)
            #expect(try await bench.count("pushReady") == 60)
        }
    }

    @Test("a batch that waits for another with the same sends finds them stored")
    func concurrent() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            let receipts = try await withThrowingTaskGroup(of: [SendReceipt].self) { group in
                for first in [0, 5, 10, 15] { group.addTask { try await posted(first..<first + 20, to: bench) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(accepted(receipts) == 35)
            #expect(receipts.count { if case .duplicate(deliveries: 1, _) = $0 { true } else { false } } == 45)
            #expect(try await bench.count("pushSends") == 35)
            #expect(try await bench.count("pushDeliveries") == 35)
        }
    }

    @Test("of sends that are leased together each goes to its own device or token")
    func targets() async throws {
        try await SendingBench.with { bench in
            for number in 0..<8 {
                try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number))
            }
            // Makes the queue, and leaves it empty.
            try await bench.enqueue(#"{"sendId": "first", "uid": "user-0"}"#)
            try await bench.dispatch(ScriptedProvider())
            let dispatcher = bench.dispatcher(ScriptedProvider().lookup)
            let enqueueService = bench.enqueueService(dispatcher)
            let items = (0..<16).map { number in
                let target =
                    number % 2 == 0
                    ? #""deviceId": "phone-\#(number / 2)""#
                    : #""token": "\#(SendingBench.token(100 + number))", "provider": "apns", "app": "com.example.app""#
                return #"{"sendId": "m\#(number)", "title": "t", \#(target)}"#
            }
            let post = try bench.post("[\(items.joined(separator: ","))]")
            try await withServices([dispatcher, enqueueService]) {
                // The dispatcher has to see first that the queue is empty.
                try await bench.refuse("INSERT", on: "pushReady", when: "true")
                try await eventually("they are stored") { try await bench.unlessRefused { try await enqueueService.submit(post) } != nil }
            }
            let made = try await bench.pool.query(
                """
                SELECT sendId, a.tokenHash, d.tokenHash, deviceId FROM notificationDeliveryAttempts a JOIN pushDeliveries d USING (sendId)
                WHERE sendId LIKE 'm%' AND eventType = 'send' AND status = 'sent'
                """
            ).map { try $0.decode((String, String, [UInt8]?, String?).self) }
            #expect(made.count == 16)
            for (sendId, attempted, named, deviceId) in made {
                let number = try #require(Int(sendId.dropFirst()))
                let token = SendingBench.token(number % 2 == 0 ? number / 2 : 100 + number)
                let hash = try TokenHash.apns(token)
                #expect(attempted == hash.rawValue, "\(sendId)")
                #expect(
                    number % 2 == 0 ? deviceId == "phone-\(number / 2)" && named == nil : deviceId == nil && named == hash.bytes,
                    "\(sendId)"
                )
            }
            #expect(try await bench.count("pushLeases") == 0)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("PostgreSQL keeps the plan of the statement that leases, however many deliveries and devices there are")
    func plan() async throws {
        try await SendingBench.with { bench in
            let plans = try await bench.pool.withConnection { connection in
                try await connection.perform { connection in
                    for count in [80, 12, 200, 1, 60, 40, 90, 100] {
                        let deliveries = (0..<count).map { number in
                            NewDelivery(
                                uid: "ann",
                                deviceId: number % 2 == 0 && count > 50 ? "phone" : nil,
                                platform: .ios,
                                provider: .apns,
                                environment: .production,
                                app: "com.example.app"
                            )
                        }
                        let rows = try connection.query(EnqueueQueries.lease(deliveries, lease: .seconds(60), worker: "test"))
                        #expect(rows.count == count)
                    }
                    return try connection.query(
                        "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE 'WITH lease%'"
                    )[0].decode((Int, Int).self)
                }
            }
            // The first five are always planned.
            #expect(plans == (5, 3))
        }
    }
}
