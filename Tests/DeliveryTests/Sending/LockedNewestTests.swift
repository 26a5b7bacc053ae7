import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase
import TestSupport
import Testing

@testable import Delivery

@Suite("A token's key of pushNewest that another transaction has locked")
struct LockedNewestTests {
    private func send(_ sendId: String, _ number: Int = 1) -> String {
        #"{"sendId": "\#(sendId)", "uid": "user-\#(number)", "title": "t", "collapseId": "match-7"}"#
    }

    private func with(phones: Int, _ body: (SendingBench) async throws -> Void) async throws {
        try await SendingBench.with { bench in
            for number in 1...phones {
                try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number))
            }
            try await body(bench)
        }
    }

    /// As a request does that stores a list of tokens.
    private func lock(_ delivery: ClaimedDelivery, in blocker: PostgresTransaction) async throws {
        let locked = try await blocker.query("SELECT FROM pushNewest WHERE inFlight = \(delivery.deliveryId) FOR UPDATE")
        try #require(locked.count == 1)
    }

    /// That of a delivery which may not be attempted now.
    private func refusal(of delivery: ClaimedDelivery) throws -> QueueDeliveries.Outcome {
        let now = delivery.claimedAt
        var waiting: DeliveryNext?
        if case .waits = delivery.newestVerdict, case .end(let next) = Preflight.decide(delivery, now: now) { waiting = next }
        return QueueDeliveries.Outcome(consequence: delivery.consequence(try #require(waiting)), lease: delivery.lease, at: now)
    }

    private func outcomes(_ bench: SendingBench, _ flights: EndedFlights) -> OutcomeStore<QueueDeliveries> {
        bench.store.outcomes(QueueDeliveries(endedFlights: flights, logger: .silent))
    }

    private func inFlight(_ bench: SendingBench) async throws -> Int { try await bench.count("pushNewest WHERE inFlight IS NOT NULL") }

    @Test("outcomes do not wait for it; its flight ends when it is free, and then what waited for that is due")
    func outcomes() async throws {
        try await with(phones: 21) { bench in
            for number in 1...21 { try await bench.enqueue(send("old-\(number)", number)) }
            let old = try await bench.claim(21)
            #expect(old.map(\.newestVerdict) == Array(repeating: .newest, count: 21))
            try await bench.enqueue(send("new"))
            try await bench.outcomes.write([try refusal(of: try #require(try await bench.claim().first))])

            let flights = EndedFlights()
            let answers = try old.map { bench.outcome(of: $0, to: try #require($0.token), .accepted("m")) }
            try await bench.pool.withTransaction { blocker in
                try await lock(try #require(old.first { $0.sendId == "old-1" }), in: blocker)
                try await outcomes(bench, flights).write(answers)
                #expect(try await bench.count("pushFinished WHERE outcome = 'sent'") == 21)
                #expect(try await inFlight(bench) == 1)
                #expect(flights.hasNew)
                try await bench.store.end(flights)
                #expect(!flights.isEmpty && !flights.hasNew)
                #expect(try await bench.store.promote() == 0)
            }
            try await bench.store.end(flights)
            #expect(flights.isEmpty)
            #expect(try await inFlight(bench) == 0)
            #expect(try await bench.store.promote() == 1)
            let next = try await bench.claim()
            #expect(next.map(\.sendId) == ["new"] && next.map(\.newestVerdict) == [.newest])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("what is to wait for a flight is tried again within seconds, as that may have ended; then what ended is found")
    func waiting() async throws {
        try await with(phones: 1) { bench in
            try await bench.enqueue(send("old"))
            let old = try await bench.claim()[0]
            try await bench.enqueue(send("new"))
            let refused = try refusal(of: try #require(try await bench.claim().first))
            let answer = bench.outcome(of: old, to: try #require(old.token), .apns(503, "ServiceUnavailable"))
            let flights = EndedFlights()
            try await bench.pool.withTransaction { blocker in
                try await lock(old, in: blocker)
                try await outcomes(bench, flights).write([answer, refused])
            }
            // It had been replaced when the newer one was claimed.
            #expect(try await bench.send("old").state == .superseded)
            let isSoon = try await bench.pool.query(
                "SELECT runAt > \(old.claimedAt) AND runAt < clock_timestamp() + interval '10 seconds' FROM pushScheduled"
            ).map { try $0.decode(Bool.self) }
            #expect(isSoon == [true])
            try await bench.store.end(flights)
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = now()")
            #expect(try await bench.store.promote() == 1)
            #expect(try await bench.claim().map(\.newestVerdict) == [.newest])
        }
    }

    @Test("a flight that is ended later is not taken for the next one of the same delivery")
    func retry() async throws {
        try await with(phones: 1) { bench in
            try await bench.enqueue(send("s"))
            let first = try await bench.claim()[0]
            let push = try #require(first.token)
            let flights = EndedFlights()
            try await bench.pool.withTransaction { blocker in
                try await lock(first, in: blocker)
                try await outcomes(bench, flights).write([bench.outcome(of: first, to: push, .apns(503, "ServiceUnavailable"))])
            }
            #expect(try await bench.send("s").state == .retrying)
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = now()")
            #expect(try await bench.store.promote() == 1)
            let second = try await bench.claim()[0]
            #expect(second.newestVerdict == .newest)
            #expect(!flights.isEmpty)
            try await bench.store.end(flights)
            #expect(flights.isEmpty)
            #expect(try await inFlight(bench) == 1)
            try await bench.outcomes.write([bench.outcome(of: second, to: push, .accepted("m"))])
            #expect(try await inFlight(bench) == 0)
        }
    }

    @Test("the dispatcher ends such a flight, and sends what waited for it")
    func dispatcher() async throws {
        try await with(phones: 1) { bench in
            let provider = ClosedProvider()
            let dispatcher = bench.dispatcher({ _, _, _ in provider }) { $0.sweep = .milliseconds(1) }
            try await withServices([dispatcher]) {
                try await bench.enqueue(send("45"))
                try await eventually("it is with the provider") { provider.sendIds == ["45"] }
                try await bench.enqueue(send("46"))
                try await eventually("it waits") { try await bench.send("46").state == .scheduled }
                try await bench.pool.withTransaction { blocker in
                    let locked = try await blocker.query("SELECT FROM pushNewest WHERE inFlight IS NOT NULL FOR UPDATE")
                    #expect(locked.count == 1)
                    provider.open()
                    try await eventually("its outcome is written") { try await bench.send("45").state == .sent }
                }
                try await eventually("it is sent", within: .seconds(20)) { try await bench.send("46").state == .sent }
            }
            #expect(provider.sendIds == ["45", "46"])
            #expect(try await inFlight(bench) == 0)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a claim does not wait for it: what needs it goes back, and the others are attempted", arguments: [false, true])
    func claim(isInserted: Bool) async throws {
        try await with(phones: 10) { bench in
            for number in 1...10 { try await bench.enqueue(send("s\(number)", number)) }
            let insert: Query = """
                INSERT INTO pushNewest (collapseKey, deliveryId, expiresAt)
                SELECT pushCollapseKey(provider, app, environment, userId, NULL, pushTokenHash, 'match-7'), 0, now() + interval '1 hour'
                FROM devices WHERE userId = 'user-3'
                """
            if !isInserted { #expect(try await bench.pool.execute(insert) == 1) }
            try await bench.pool.withTransaction { blocker in
                if isInserted {
                    #expect(try await blocker.execute(insert) == 1)
                } else {
                    #expect(try await blocker.query("SELECT FROM pushNewest WHERE deliveryId = 0 FOR UPDATE").count == 1)
                }
                let claimed = try await bench.claim(10)
                let others = (1...10).filter { $0 != 3 }.map { "s\($0)" }
                #expect(claimed.filter { $0.newestVerdict == .newest }.map(\.sendId) == others)
                try await bench.outcomes.write([try refusal(of: try #require(claimed.first { $0.sendId == "s3" }))])
                let isSoon = try await bench.pool.query(
                    "SELECT runAt > \(claimed[0].claimedAt) AND runAt < clock_timestamp() + interval '10 seconds' FROM pushScheduled"
                ).map { try $0.decode(Bool.self) }
                #expect(isSoon == [true])
            }
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = now()")
            #expect(try await bench.store.promote() == 1)
            #expect(try await bench.claim().map(\.newestVerdict) == [.newest])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }
}
