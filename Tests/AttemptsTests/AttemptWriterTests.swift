import Logging
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Writing attempts to PostgreSQL")
struct AttemptWriterTests {
    @Test("a new attempt is stored as it was sent, and counted once")
    func stores() async throws {
        try await withAttempts { store in
            let attempt = Sample.attempt(status: .failed, reason: .network)
            #expect(try await store.write([attempt]) == [.accepted])
            #expect(try await AttemptStore(store.pool).find(attemptId: "a-1") == attempt)
            try await store.expectRollupsEqualRecount(total: 1)
        }
    }

    @Test(
        "minutes that change more than eight minutes later are recorded for the evaluator, with the number of attempts and the writer's slot"
    )
    func lateMinutes() async throws {
        try await withAttempts { store in
            func late() async throws -> [String] {
                try await store.pool.query(
                    "SELECT concat_ws(' ', (\(Sample.now)::timestamptz - minute)::text, writerSlot, attempts, evaluated) FROM attemptLateMinutes ORDER BY minute DESC"
                ).map { try $0.decode(String.self) }
            }
            _ = try await store.write([Sample.attempt("a"), Sample.attempt("b", at: Sample.now - .seconds(480))])
            #expect(try await late() == [])
            let old = Sample.now - .seconds(540)
            _ = try await store.write([Sample.attempt("c"), Sample.attempt("d", at: old), Sample.attempt("e", at: old)])
            _ = try await store.write([Sample.attempt("f", at: old), Sample.attempt("c")])
            _ = try await store.write([Sample.attempt("g", at: Sample.now - .seconds(3600))], slot: 1000)
            #expect(try await late() == ["00:09:00 0 3 0", "01:00:00 1000 1 0"])
        }
    }

    @Test("apps whose names Unicode calls equivalent are counted apart, as they are stored")
    func equivalentLabels() async throws {
        try await withAttempts { store in
            let apps = ["caf\u{E9}", "cafe\u{301}"]
            let attempts = ["a", "b", "c"].enumerated().map { number, id in
                var attempt = Sample.attempt(id)
                attempt.app = apps[number % 2]
                return attempt
            }
            _ = try await store.write(attempts)
            try await store.expectRollupsEqualRecount(total: 3)
            let counts = try await store.pool.query("SELECT sum(attempts)::bigint FROM attemptRollups GROUP BY app ORDER BY 1")
            #expect(try counts.map { try $0.decode(Int.self) } == [1, 2])
        }
    }

    @Test("ids of other apps are looked up one by one, not each with the time of each other")
    func otherApps() async throws {
        try await withAttempts { store in
            let attempts = (0..<200).map { number in
                var attempt = Sample.attempt("a-\(number)", at: Sample.now - .seconds(number))
                attempt.app = number % 2 == 0 ? "mine" : "other"
                return attempt
            }
            _ = try await store.write(attempts)
            try await store.pool.withTransaction { transaction in
                // As sessions that store reports look up, after some statements. Citus plans each anew.
                let planning = TestEngine.isDistributed ? [] : ["plan_cache_mode = force_generic_plan"]
                for setting in planning + ["enable_seqscan = off", "enable_bitmapscan = off"] {
                    try await transaction.execute("SET LOCAL \(raw: setting)")
                }
                let keys = attempts.map { AttemptKey(attemptId: $0.attemptId) }
                let others = try await AttemptStore(transaction).keys(keys, ofOtherAppsThan: ["mine"])
                #expect(others == Set(keys.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)))
                let lookups = try await transaction.query(
                    "SELECT sum(idx_scan)::bigint FROM pg_stat_xact_user_tables WHERE relname LIKE 'notificationdeliveryattempts%'"
                )
                // The workers' scans are not counted here.
                if !TestEngine.isDistributed { #expect(try lookups[0].decode(Int64.self) <= 1_000) }
            }
        }
    }

    @Test("the same 1,000 attempts, posted four times from eight connections, shuffled, a third re-stamped: 1,000 rows")
    func repeatedConcurrently() async throws {
        try await withAttempts(days: 5) { store in
            var generator = SeededGenerator(seed: 20_260_310)
            let attempts = (0..<1000).map { Sample.attempt("a-\($0)", uid: "u-\($0 % 50)", status: $0 % 7 == 0 ? .failed : .sent) }
            var posts: [[Attempt]] = []
            for _ in 0..<4 {
                let stamped = attempts.shuffled(using: &generator).map { attempt in
                    var attempt = attempt
                    if Int.random(in: 0..<3, using: &generator) == 0 {
                        attempt.attemptedAt = attempt.attemptedAt - .seconds(Int64.random(in: 1...4 * 86_400, using: &generator))
                    }
                    return attempt
                }
                for start in stride(from: 0, to: 1000, by: 125) { posts.append(Array(stamped[start..<start + 125])) }
            }
            posts.shuffle(using: &generator)
            let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
                for queue in 0..<8 {
                    let mine = posts.enumerated().filter { $0.offset % 8 == queue }.map(\.element)
                    group.addTask {
                        var accepted = 0
                        for post in mine { accepted += try await store.write(post, slot: Int16(queue)).count { $0 == .accepted } }
                        return accepted
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(accepted == 1000)
            try await store.expectRollupsEqualRecount(total: 1000)
        }
    }

    @Test("progress in any order and any split leaves the furthest status, and rollups that equal a recount")
    func progressAnyOrder() async throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<6 {
            var reports: [Attempt] = []
            for id in 0..<40 {
                reports.append(Sample.attempt("a-\(id)", status: .queued))
                reports.append(Sample.attempt("a-\(id)", status: id % 2 == 0 ? .sent : .failed))
                if id % 3 == 0 { reports.append(Sample.attempt("a-\(id)", status: .deactivated, reason: .tokenNotRegistered)) }
            }
            reports.shuffle(using: &generator)
            let split = Int.random(in: 1...40, using: &generator)
            let shuffled = reports
            try await withAttempts { store in
                for start in stride(from: 0, to: shuffled.count, by: split) {
                    _ = try await store.write(Array(shuffled[start..<min(start + split, shuffled.count)]))
                }
                for id in 0..<40 {
                    let expected: AttemptStatus = id % 3 == 0 ? .deactivated : id % 2 == 0 ? .sent : .failed
                    #expect(try await AttemptStore(store.pool).find(attemptId: "a-\(id)")?.status == expected)
                }
                try await store.expectRollupsEqualRecount(total: 40)
            }
        }
    }

    @Test("a conflict changes nothing and shows what is stored, also within one batch")
    func conflicts() async throws {
        try await withAttempts { store in
            let first = Sample.attempt()
            _ = try await store.write([first])
            #expect(try await store.write([Sample.attempt(uid: "u-2")]) == [.conflict(stored: first)])
            #expect(try await store.write([Sample.attempt(status: .failed)]) == [.conflict(stored: first)])
            let other = Sample.attempt("b-1")
            #expect(
                try await store.write([other, Sample.attempt("b-1", requestId: "r-2"), other]) == [
                    .accepted, .conflict(stored: other), .duplicate,
                ]
            )
            try await store.expectRollupsEqualRecount(total: 2)
        }
    }

    @Test("the first stamp stays when a report advances the attempt, also within one batch")
    func firstStampStays() async throws {
        try await withAttempts { store in
            let later = Sample.now + .seconds(90)
            _ = try await store.write([Sample.attempt("a-1", status: .queued)])
            #expect(try await store.write([Sample.attempt("a-1", status: .sent, at: later)]) == [.advanced])
            #expect(
                try await store.write([Sample.attempt("a-2", status: .queued), Sample.attempt("a-2", status: .sent, at: later)])
                    == [.accepted, .advanced]
            )
            for id in ["a-1", "a-2"] {
                let stored = try await AttemptStore(store.pool).find(attemptId: id)
                #expect(stored?.attemptedAt == Sample.now && stored?.status == .sent)
            }
            try await store.expectRollupsEqualRecount(total: 2)
        }
    }

    @Test("what cannot be counted is not stored: attempts, ledger and rollups are one transaction")
    func oneTransaction() async throws {
        try await withAttempts { store in
            _ = try await store.write([Sample.attempt("before", status: .queued)])
            // The counts of the month have nowhere to go.
            try await store.pool.execute("DROP TABLE attemptRollups_202603")
            for attempt in [Sample.attempt("new"), Sample.attempt("before", status: .sent)] {
                let error = await #expect(throws: PostgresError.self) { try await store.write([attempt]) }
                #expect(error?.isMissingPartition == true)
            }
            #expect(try await store.pool.query("SELECT count(*) FROM notificationDeliveryAttempts")[0].decode(Int.self) == 1)
            #expect(try await store.pool.query("SELECT count(*) FROM attemptLedger")[0].decode(Int.self) == 1)
            #expect(try await AttemptStore(store.pool).find(attemptId: "before")?.status == .queued)
        }
    }

    @Test("every batch takes its locks in one order, whatever the order of its items")
    func lockOrder() throws {
        var generator = SeededGenerator(seed: 3)
        for size in [2, 17, 400] {
            let attempts = (0..<size).map { _ in Sample.attempt("o-\(Int.random(in: 0..<size, using: &generator))") }
            let batch = try Sample.batch(attempts)
            let groups = AttemptGroups(batch)
            let keys: [AttemptKey] = groups.keys
            #expect(keys == keys.sorted() && Set(keys).count == keys.count)
            #expect(groups.firstReports(of: batch).map { $0.key } == keys)
        }
    }

    @Test("an id of a frozen ledger generation is still known; after nine rotations it is not")
    func generations() async throws {
        try await withAttempts { store in
            _ = try await store.write([Sample.attempt("old", status: .queued)])
            try await store.rotate()
            #expect(try await store.write([Sample.attempt("old", status: .queued)]) == [.duplicate])
            #expect(try await store.write([Sample.attempt("old", status: .sent, at: Sample.now + .seconds(1))]) == [.advanced])
            try await store.expectRollupsEqualRecount(total: 1)
            for _ in 0..<7 { try await store.rotate() }
            #expect(try await AttemptStore(store.pool).find(attemptId: "old") != nil)
            try await store.rotate()
            #expect(try await AttemptStore(store.pool).find(attemptId: "old") == nil)
            // An import that reaches behind the ledger finds the row itself.
            #expect(try await store.write([Sample.attempt("old", status: .sent)], checksOldFacts: true) == [.duplicate])
            try await store.expectRollupsEqualRecount(total: 1)
        }
    }

    @Test("an import of what the ledger has forgotten has the results that it would have with the ledger")
    func forgotten() async throws {
        try await withAttempts { store in
            let known = [
                Sample.attempt("a", status: .queued), Sample.attempt("a", status: .sent, at: Sample.now + .seconds(60)),
                Sample.attempt("b", status: .queued), Sample.attempt("b", status: .sent),
            ]
            _ = try await store.write(known + [Sample.attempt("c", status: .queued)], checksOldFacts: true)
            for _ in 0..<9 { try await store.rotate() }
            #expect(try await AttemptStore(store.pool).find(attemptId: "a") == nil)
            let sent = Sample.attempt("c", status: .sent)
            let all = known + [sent, Sample.attempt("c", uid: "u-2")]
            let duplicates = Array(repeating: AttemptResult.duplicate, count: 4)
            #expect(try await store.write(all, checksOldFacts: true) == duplicates + [.advanced, .conflict(stored: sent)])
            #expect(try await store.write(all, checksOldFacts: true) == duplicates + [.duplicate, .conflict(stored: sent)])
            #expect(try await AttemptStore(store.pool).find(attemptId: "c") == sent)
            try await store.expectRollupsEqualRecount(total: 3)
        }
    }
}

/// A scratch database with partitions around the sample's day.
struct AttemptDatabase: Sendable {
    let pool: PostgresPool
    let maintenance: PartitionMaintenance

    func write(
        _ attempts: [Attempt],
        slot: Int16 = 0,
        receivedAt: Timestamp = Sample.now,
        checksOldFacts: Bool = false,
        hints: LedgerHints? = nil
    ) async throws -> [AttemptResult] {
        let batch = try Sample.batch(attempts)
        return try await pool.withConnection { connection in
            try await connection.perform { connection in
                try connection.transaction {
                    try AttemptWriter.write(
                        batch,
                        on: $0,
                        slot: slot,
                        receivedAt: receivedAt,
                        checksOldFacts: checksOldFacts,
                        hints: hints
                    )
                }
            }
        }
    }

    func rotate() async throws {
        try await maintenance.rotateLedgerNow()
    }

    /// Rollups and latencies without their zero rows, against a count over the rows: no difference in either direction.
    func expectRollupsEqualRecount(total: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let rows = try await pool.query(
            """
            WITH recount AS (
                SELECT date_trunc('minute', attemptedAt) AS minute, provider, platform, eventType, status,
                    coalesce(reasonCode::text, '') AS reasonCode, coalesce(app, '') AS app,
                    coalesce(environment::text, '') AS environment, coalesce(pushType, '') AS pushType,
                    pushAppMajor(appVersion) AS appMajor,
                    count(*) AS attempts, coalesce(sum(latencyMs), 0)::bigint AS latency, count(latencyMs) AS latencies
                FROM notificationDeliveryAttempts GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
            ), rollup AS (
                SELECT minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor,
                    sum(attempts)::bigint AS attempts, sum(latencyMsSum)::bigint AS latency, sum(latencyCount)::bigint AS latencies
                FROM attemptRollups GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 HAVING sum(attempts) <> 0
            ), timed AS (
                SELECT date_trunc('minute', attemptedAt), provider, coalesce(app, ''),
                    (SELECT min(bound) FROM unnest(\(LatencyBuckets.bounds)) AS bound WHERE bound >= latencyMs), count(*)
                FROM notificationDeliveryAttempts WHERE latencyMs IS NOT NULL GROUP BY 1, 2, 3, 4
            ), latency AS (
                SELECT minute, provider, app, upToMs, sum(attempts)::bigint FROM attemptLatencies
                GROUP BY 1, 2, 3, 4 HAVING sum(attempts) <> 0
            )
            SELECT (SELECT count(*) FROM notificationDeliveryAttempts), (SELECT count(*) FROM ((TABLE recount EXCEPT TABLE rollup)
                UNION ALL (TABLE rollup EXCEPT TABLE recount)) AS difference)
                + (SELECT count(*) FROM ((TABLE timed EXCEPT TABLE latency) UNION ALL (TABLE latency EXCEPT TABLE timed)) AS difference)
            """
        )
        let (count, differences) = try rows[0].decode((Int, Int).self)
        #expect(count == total, sourceLocation: sourceLocation)
        #expect(differences == 0, sourceLocation: sourceLocation)
    }
}

func withAttempts(days: Int64 = 2, _ body: (AttemptDatabase) async throws -> Void) async throws {
    try await withDatabase { pool in
        let maintenance = PartitionMaintenance(pool: pool, clockTolerance: nil, logger: .silent, now: { Sample.now })
        try await maintenance.ensurePartitions(forDays: Set(Sample.now.day - days...Sample.now.day + 1))
        // In the time of the samples.
        try await pool.execute("UPDATE ledgerState SET frozenAt = ARRAY[\(Sample.now)]")
        try await body(AttemptDatabase(pool: pool, maintenance: maintenance))
    }
}

/// A small generator with a printed seed, so that a failing run can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
