import Delivery
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Dead letters")
struct DeadLetterTests {
    private func since() -> DeadLetterFilter { DeadLetterFilter(since: .now() - .seconds(600), until: .now() + .seconds(600)) }

    /// One dead for its content, one expired, one without a device, one sent, one cancelled.
    private func prepare(_ bench: SendingBench) async throws {
        for number in 1...5 {
            try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number))
            try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "u\#(number)", "title": "Goal"}"#)
        }
        try await bench.pool.execute("UPDATE pushSends SET expiresAt = now() WHERE sendId = 's2'")
        _ = try await bench.devices.unregister(userId: "u3", deviceId: "phone-3", requestId: "out", now: .now())
        _ = try await bench.store.cancel("s5", author: "test")
        try await bench.dispatch(ScriptedProvider([SendingBench.token(1): [.apns(413, "PayloadTooLarge")]]))
    }

    @Test("they are listed with their reasons, newest first, by any of them")
    func list() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench)
            let letters = try await bench.store.deadLetters(since())
            #expect(
                Dictionary(uniqueKeysWithValues: letters.map { ($0.sendId, $0.outcome) }) == [
                    "s1": .failed, "s2": .expired, "s3": .unreachable,
                ]
            )
            var filter = since()
            filter.providerErrorCode = "PayloadTooLarge"
            #expect(try await bench.store.deadLetters(filter).map(\.sendId) == ["s1"])
            filter = since()
            filter.outcome = .expired
            #expect(try await bench.store.deadLetters(filter).map(\.sendId) == ["s2"])
            filter.until = .now() - .seconds(300)
            #expect(try await bench.store.deadLetters(filter).isEmpty)
        }
    }

    @Test("a redrive is the next try: one send, what expired with a new lifetime, and a cancelled one never")
    func retryDeadLetters() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench)
            var one = since()
            one.sendId = "s1"
            #expect(try await bench.store.retryDeadLetters(one, lifetime: .seconds(600), recording: .test()) == 1)
            #expect(try await bench.store.retryDeadLetters(one, lifetime: .seconds(600), recording: .test()) == 0)
            try await bench.dispatch(ScriptedProvider())
            let send = try await bench.send("s1")
            #expect(send.state == .sent)
            #expect(send.attempts.map(\.status) == [.failed, .sent])
            #expect(send.deliveries[0].attempts == 2)

            var expired = since()
            expired.outcome = .expired
            #expect(try await bench.store.retryDeadLetters(expired, lifetime: .seconds(600), recording: .test()) == 1)
            try await bench.dispatch(ScriptedProvider())
            #expect(try await bench.status(of: "s2") == [.sent])
            // The device is there again.
            try await bench.register("u3", "phone-3", token: SendingBench.token(3))
            #expect(try await bench.store.retryDeadLetters(since(), lifetime: .seconds(600), recording: .test()) == 1)
            try await bench.dispatch(ScriptedProvider())
            #expect(try await bench.send("s3").state == .sent)
            #expect(try await bench.send("s5").state == .cancelled)
            #expect(try await bench.count("pushDead") == 0)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a redrive of all takes every portion, and by the database's clock what was dead when it began: neither more nor less")
    func retryAll() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench)
            // As one that failed again while the redrive was under way, before the time that the filter ends at.
            try await bench.pool.execute(
                "UPDATE pushDead SET finishedAt = clock_timestamp() + interval '30 seconds' WHERE outcome = 'expired'"
            )
            var filter = since()
            filter.until = .now() + .seconds(60)
            #expect(try await bench.store.retryAllDeadLetters(filter, lifetime: .seconds(600), portion: 1, recording: .test()) == 2)
            #expect(try await bench.store.deadLetters(filter).map(\.sendId) == ["s2"])
            // The clock of whoever calls may be behind.
            try await bench.pool.execute("UPDATE pushDead SET finishedAt = clock_timestamp()")
            filter.until = .now() - .seconds(5)
            #expect(try await bench.store.retryAllDeadLetters(filter, lifetime: .seconds(600), recording: .test()) == 1)
        }
    }

    @Test("a redrive of an old send keeps it until it has expired again, and for another day")
    func retryOld() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench)
            try await bench.pool.execute(
                "UPDATE pushSends SET createdAt = createdAt - interval '44 days', expiresAt = expiresAt - interval '44 days'"
            )
            var one = since()
            one.sendId = "s1"
            #expect(try await bench.store.retryDeadLetters(one, lifetime: .seconds(7 * 86_400), recording: .test()) == 1)
            #expect(try await !bench.store.forget(olderThan: .seconds(40 * 86_400)))
            #expect(try await bench.count("pushSends") == 1)
            try await bench.dispatch(ScriptedProvider())
            #expect(try await bench.send("s1").state == .sent)
            #expect(try await bench.deliveriesOutOfPlace() == 0)

            try await bench.pool.execute("UPDATE pushSends SET expiresAt = now() - interval '25 hours'")
            #expect(try await !bench.store.forget(olderThan: .seconds(40 * 86_400)))
            for table in ["pushSends", "pushDeliveries", "pushFinished"] { #expect(try await bench.count(table) == 0, "\(table)") }
        }
    }

    @Test("two redrives at once put nothing back twice")
    func concurrent() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench)
            let filter = since()
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await bench.store.retryDeadLetters(filter, lifetime: .seconds(600), recording: .test()) }
                }
                return try await group.reduce(0, +)
            }
            #expect(counts == 3)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }
}
