import Attempts
import Delivery
import Postgres
import Providers
import PushContract
import Testing

@Suite("Checking what is stored of sends")
struct SendFsckTests {
    /// - Parameter size: how many ids of deliveries a statement looks at.
    private func faults(_ bench: SendingBench, size: Int64 = 100_000) async throws -> [String: Int] {
        let lines = try await Fsck([QueueCheck(size: size)], pool: bench.pool, pause: .zero, now: .now()).run().lines
        return Dictionary(uniqueKeysWithValues: lines.map { ($0.check, $0.faultCount) }).filter { $0.value > 0 }
    }

    private func prepare(_ bench: SendingBench) async throws {
        for number in 1...3 {
            try await bench.register("u\(number)", "phone\(number)", token: SendingBench.token(number))
            try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "u\#(number)", "title": "Goal"}"#)
        }
        let refusal = PushOutcome.apns(503, "ServiceUnavailable")
        try await bench.dispatch(
            ScriptedProvider([SendingBench.token(1): [refusal], SendingBench.token(2): [.apns(413, "PayloadTooLarge")]])
        )
    }

    @Test("a queue that has worked is clean: sent after a retry, dead, sent")
    func clean() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench)
            #expect(try await faults(bench).isEmpty)
        }
    }

    static let damages = [
        ("DELETE FROM pushDead", "deliveryTables"),
        (
            "INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt) SELECT queue, deliveryId, 2, now() FROM pushDead",
            "deliveryTables"
        ),
        ("DELETE FROM pushDeliveries WHERE sendId = 's3'", "deliveryTables"),
        ("UPDATE pushFinishedSingles SET attempts = attempts + 1 WHERE attempts = 2", "sendAttempts"),
        ("UPDATE notificationDeliveryAttempts SET status = 'sent', reasonCode = NULL WHERE sendId = 's1'", "sentOnce"),
        (
            """
            INSERT INTO pushLeases (leaseToken, worker, claimedAt, leaseUntil, deliveryIds, attemptNumbers, tokenHashes)
            SELECT 0, 'gone', now(), now() - interval '10 minutes', ARRAY[deliveryId], '{2}', '{NULL}' FROM pushDead
            """, "sendLeases"
        ),
        (
            """
            INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber, circuitId)
            SELECT deliveryId, queue, now() + interval '1 day', 2, 99 FROM pushDead
            """, "sendCircuits"
        ),
        (
            """
            INSERT INTO pushFanOuts (sendId, audienceId, providers, platforms, environments, apps, devices, acceptedAs, storedAt)
            VALUES ('s1', 'fans', '{}', '{}', '{}', '{}', 1, 0, now() - interval '6 minutes')
            """, "sendPortions"
        ),
    ]

    /// With slices of one statement for all deliveries, for each its own, and for each its own comparison with what is ready.
    @Test("each planted fault is found, once, in whatever slice", arguments: damages, [(100_000, 1), (1, 1), (1, 40)] as [(Int64, Int)])
    func planted(damage: (sql: String, check: String), slice: (size: Int64, gap: Int)) async throws {
        try await SendingBench.with { bench in
            try await bench.pool.execute("ALTER TABLE pushDeliveries ALTER deliveryId SET INCREMENT BY \(raw: "\(slice.gap)")")
            // Two deliveries to one person, before the ones that are damaged.
            for number in 8...9 { try await bench.register("u8", "phone\(number)", token: SendingBench.token(number)) }
            try await bench.enqueue(#"{"sendId": "s8", "uid": "u8", "title": "Goal"}"#)
            try await prepare(bench)
            #expect(try await faults(bench, size: slice.size).isEmpty)
            try await bench.pool.execute("\(raw: damage.sql)")
            #expect(try await faults(bench, size: slice.size)[damage.check] == 1)
        }
    }

    /// What becomes of the delivery of s1, whose refused attempt is then said to have been sent too, on the day before.
    private static let finished: [(place: String, sql: [String])] = [
        ("ended", []),
        (
            "waits",
            [
                """
                INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber)
                SELECT deliveryId, queue, now() + interval '1 day', 3 FROM pushDeliveries WHERE sendId = 's1'
                """,
                "DELETE FROM pushFinishedSingles f USING pushDeliveries d WHERE d.deliveryId = f.deliveryId AND sendId = 's1'",
            ]
        ),
        (
            "is gone",
            [
                "DELETE FROM pushFinishedSingles f USING pushDeliveries d WHERE d.deliveryId = f.deliveryId AND sendId = 's1'",
                "DELETE FROM pushDeliveries WHERE sendId = 's1'",
            ]
        ),
    ]

    @Test("a push that is recorded as sent on two days is found, whatever has become of its delivery", arguments: finished)
    func sentTwice(place: String, sql: [String]) async throws {
        try await SendingBench.with { bench in
            try await prepare(bench)
            for statement in sql { try await bench.pool.execute("\(raw: statement)") }
            #expect(try await faults(bench).isEmpty, "one row says sent")
            try await bench.pool.execute(
                """
                UPDATE notificationDeliveryAttempts
                SET status = 'sent', reasonCode = NULL, attemptedAt = \(Timestamp.now() - .seconds(86_400)) WHERE sendId = 's1' AND status = 'failed'
                """
            )
            #expect(try await faults(bench)["sentOnce"] == 1)
            // A sender's own sends may reach a token more than once.
            try await bench.pool.execute("DELETE FROM pushSends WHERE sendId = 's1'")
            #expect(try await faults(bench)["sentOnce"] == nil)
        }
    }

    @Test("a lost answer is reported as a push that may have arrived twice, and is no fault")
    func possibleDuplicates() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench)
            try await bench.enqueue(#"{"sendId": "s4", "uid": "u3", "title": "Goal"}"#)
            _ = try await bench.claim()
            try await bench.pool.execute("UPDATE pushLeases SET leaseUntil = now() - interval '1 second'")
            try await bench.dispatch(ScriptedProvider())
            let report = try await Fsck([QueueCheck()], pool: bench.pool, pause: .zero, now: .now()).run()
            #expect(report.isClean)
            #expect(report.lines.compactMap(\.note) == ["1 pushes may have arrived twice: their answers were lost (at_least_once)"])
        }
    }
}
