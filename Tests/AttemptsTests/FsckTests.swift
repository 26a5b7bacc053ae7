import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Checking what is stored")
struct FsckTests {
    @Test("what the writer wrote is clean, across days, generations and progress")
    func clean() async throws {
        try await withCheckedAttempts { store in
            let report = try await store.fsck()
            #expect(report.faults.isEmpty, "\(report.faults)")
            #expect(report.line("tokens").examined.hasPrefix("300 attempts"))
        }
    }

    /// Each damage, and the checks that must find it. Damage to the facts shows in the recount, too.
    static let damages: [(name: String, sql: String, found: Set<String>)] = [
        (
            "a deleted attempt", "DELETE FROM notificationDeliveryAttempts WHERE attemptId = 'a-17'",
            ["ledger", "rollups"]
        ),
        (
            "a rollup that counts one too many",
            """
            UPDATE attemptRollups SET attempts = attempts + 1 WHERE ctid = (SELECT min(ctid) FROM attemptRollups)
            AND tableoid = (SELECT min(tableoid) FROM attemptRollups)
            """,
            ["rollups"]
        ),
        (
            "a rollup with another latency",
            """
            UPDATE attemptRollups SET latencyMsSum = latencyMsSum + 1 WHERE ctid = (SELECT min(ctid) FROM attemptRollups)
            AND tableoid = (SELECT min(tableoid) FROM attemptRollups)
            """,
            ["rollups"]
        ),
        (
            "a latency in another bucket",
            """
            UPDATE attemptLatencies SET upToMs = 50 WHERE ctid = (SELECT min(ctid) FROM attemptLatencies)
            AND tableoid = (SELECT min(tableoid) FROM attemptLatencies)
            """,
            ["rollups"]
        ),
        (
            "an id that stands on two days, counted on both",
            """
            WITH copied AS MATERIALIZED (
                SELECT attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode, providerErrorCode,
                    attemptedAt - interval '1 day' AS attemptedAt, requestId, app, environment, pushType, appVersion, providerMessageId,
                    latencyMs, sendId, receivedAt, attemptKey
                FROM notificationDeliveryAttempts WHERE attemptId = 'a-17'
            ), stored AS (INSERT INTO notificationDeliveryAttempts SELECT * FROM copied),
            timed AS (INSERT INTO attemptLatencies SELECT date_trunc('minute', attemptedAt), provider, app, 20, 77, 1 FROM copied)
            INSERT INTO attemptRollups SELECT date_trunc('minute', attemptedAt), provider, platform, eventType, status,
                coalesce(reasonCode::text, ''), coalesce(app, ''), coalesce(environment::text, ''), coalesce(pushType, ''), 77, 1,
                coalesce(latencyMs, 0), count(latencyMs) OVER () FROM copied
            """,
            ["ledger"]
        ),
        (
            "an id that stands twice in a minute, first received before the days of the ledger",
            """
            INSERT INTO notificationDeliveryAttempts
            SELECT attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode, providerErrorCode,
                attemptedAt + interval '1 millisecond', requestId, app, environment, pushType, appVersion, providerMessageId,
                latencyMs, sendId, receivedAt - interval '20 days', attemptKey
            FROM notificationDeliveryAttempts WHERE attemptId = 'a-17'
            """,
            ["identity", "rollups"]
        ),
        (
            "an id that two generations of the ledger hold",
            """
            INSERT INTO attemptLedger SELECT attemptKey, 0, fingerprint, attemptedAt, status FROM attemptLedger
            WHERE generation = 1 ORDER BY attemptKey LIMIT 1
            """,
            ["identity"]
        ),
        (
            "an attempt under another id's key",
            "UPDATE notificationDeliveryAttempts SET attemptId = 'someone-else' WHERE attemptId = 'a-17'",
            ["identity"]
        ),
        (
            "an attempt that the ledger lost",
            "DELETE FROM attemptLedger WHERE attemptKey = (SELECT attemptKey FROM notificationDeliveryAttempts WHERE attemptId = 'a-17')",
            ["ledger"]
        ),
        (
            "an attempt whose status differs from the ledger's",
            """
            UPDATE attemptLedger SET status = 'queued'
            WHERE attemptKey = (SELECT attemptKey FROM notificationDeliveryAttempts WHERE attemptId = 'a-17')
            """,
            ["ledger"]
        ),
        (
            "an attempt of another person", "UPDATE notificationDeliveryAttempts SET uid = 'someone-else' WHERE attemptId = 'a-17'",
            ["ledger"]
        ),
        (
            "an attempt of another token",
            "UPDATE notificationDeliveryAttempts SET tokenHash = 'sha256:' || repeat('0b', 32) WHERE attemptId = 'a-17'",
            ["ledger"]
        ),
        (
            "an attempt of another request", "UPDATE notificationDeliveryAttempts SET requestId = 'another' WHERE attemptId = 'a-17'",
            ["ledger"]
        ),
        (
            "a dropped partition in the middle", "DROP TABLE notificationDeliveryAttempts_20260309",
            ["partitions", "ledger"]
        ),
        (
            "a rollup partition that is gone", "DROP TABLE attemptRollups_202603",
            ["partitions", "rollups"]
        ),
        (
            "a partition of latencies that is gone", "DROP TABLE attemptLatencies_202603",
            ["partitions", "rollups"]
        ),
        (
            "a default partition", "CREATE TABLE rest PARTITION OF notificationDeliveryAttempts DEFAULT",
            ["partitions"]
        ),
        (
            "a generation of the ledger that is gone", "DROP TABLE attemptLedger_0",
            ["partitions"]
        ),
        (
            "a raw token where the hash should be",
            "UPDATE notificationDeliveryAttempts SET tokenHash = repeat('0a', 32) WHERE attemptId = 'a-17'",
            ["tokens", "ledger"]
        ),
        (
            "a raw token in the provider's code",
            "UPDATE notificationDeliveryAttempts SET providerErrorCode = 'bad token ' || repeat('0A', 32) WHERE attemptId = 'a-17'",
            ["tokens"]
        ),
    ]

    @Test("each planted damage is found by the right check, and by no other", arguments: damages.indices)
    func finds(_ index: Int) async throws {
        let damage = FsckTests.damages[index]
        try await withCheckedAttempts { store in
            try await store.pool.execute(Query(text: damage.sql))
            let report = try await store.fsck()
            #expect(Set(report.lines.filter { $0.faultCount > 0 }.map(\.check)) == damage.found, "\(damage.name): \(report.faults)")
        }
    }

    @Test("a raw token is found in each column whose reports are refused for one, an APNs token and an FCM token")
    func tokenColumns() async throws {
        try await withCheckedAttempts { store in
            for column in AttemptColumn.allCases.filter(\.refusesTokenShape) {
                let update = "UPDATE notificationDeliveryAttempts SET \(column.name) ="
                for token in [String(repeating: "0A", count: 32), "is " + String(repeating: "a-_:Z", count: 20)] {
                    try await store.pool.execute("\(raw: update) \(token) WHERE attemptId = 'a-17'")
                    let report = try await Fsck([TokensCheck()], pool: store.pool, pause: .zero, now: Sample.now + .seconds(600)).run()
                    #expect(report.faults.count == 1 && report.faults.first?.contains("a-17") == true, "\(column) \(report.faults)")
                }
                try await store.pool.execute("\(raw: update) NULL WHERE attemptId = 'a-17'")
            }
        }
    }

    @Test("stays clean while four writers go on in closed minutes and the ledger rotates")
    func duringTraffic() async throws {
        try await withCheckedAttempts { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        for round in 0..<40 {
                            let ids = (0..<50).map { "w\(writer)-\(round / 2)-\($0)" }
                            let at = Sample.now - .seconds(Int64(round / 2) * 700)
                            // Every other round takes the last one's attempts forward.
                            let status: AttemptStatus = round % 2 == 0 ? .queued : .sent
                            _ = try await store.write(ids.map { Sample.attempt($0, status: status, at: at) }, slot: Int16(writer))
                        }
                    }
                }
                group.addTask { try await store.rotate() }
                for _ in 0..<2 { #expect(try await store.fsck().faults.isEmpty) }
                try await group.waitForAll()
            }
            let report = try await store.fsck()
            #expect(report.faults.isEmpty && report.line("tokens").examined.hasPrefix("4300 attempts"), "\(report)")
        }
    }

    @Test("days that an import left out are no gap; days with counts and no partition are")
    func importedDays() {
        let plan = PartitionPlan()
        let now = Sample.now
        var partitions = FsckPartitions()
        partitions.rollups = plan.months(from: now.day - 60, through: now.day + 5)
        partitions.latencies = partitions.rollups.map(\.latencies)
        partitions.facts = plan.facts(now: now) + [PartitionPlan.fact(day: now.day - 40)]
        for index in partitions.facts.indices { partitions.facts[index].name = partitions.facts[index].name.lowercased() }
        #expect(partitions.faults(plan: plan, countedDays: [], now: now).isEmpty)
        #expect(partitions.faults(plan: plan, countedDays: [now.day - 20], now: now).count == 1)
        #expect(partitions.faults(plan: plan, countedDays: [], now: now + .seconds(6 * 86_400)).count >= 2)
        // Before the oldest day there is, as far back as attempts are kept.
        let lost = partitions.faults(plan: plan, countedDays: [now.day - 90, now.day - 60, now.day - 50], now: now).map(\.text)
        let text = "no attempts partition for 2 of the days from 2026-01-09 to 2026-01-19, before the oldest"
        #expect(lost.count == 1 && lost[0].hasPrefix(text), "\(lost)")
    }

    @Test("months without a day between an imported one and the live ones are no gap; the month of an imported day is expected")
    func importedMonths() throws {
        let plan = PartitionPlan()
        let now = try #require(Timestamp(rfc3339: "2026-12-01T12:00:00Z"))
        let imported = now.day - 82
        var partitions = FsckPartitions()
        partitions.facts = [PartitionPlan.fact(day: imported)] + plan.facts(now: now)
        for index in partitions.facts.indices { partitions.facts[index].name = partitions.facts[index].name.lowercased() }
        partitions.rollups = [PartitionPlan.rollup(day: imported)] + plan.rollups(now: now)
        partitions.latencies = partitions.rollups.map(\.latencies)
        #expect(partitions.faults(plan: plan, countedDays: [], now: now).map(\.text) == [])
        partitions.rollups.removeFirst()
        partitions.latencies.removeFirst()
        let missing = ["no rollup partition for 2026-09", "no latency partition for 2026-09"]
        #expect(partitions.faults(plan: plan, countedDays: [], now: now).map(\.text) == missing)
    }

    @Test("each day with counts that has no partition is found, and no other day of those that an import left out")
    func countedDays() async throws {
        try await withAttempts { store in
            let days = [50, 40, 30, 25].map { Sample.now.day - $0 }
            try await store.maintenance.maintain()
            try await store.maintenance.ensurePartitions(forDays: Set(days))
            for day in days.dropLast() {
                let at = Timestamp(seconds: day * 86_400)
                #expect(try await store.write([Sample.attempt("day-\(day)", at: at)], receivedAt: at) == [.accepted])
            }
            for day in days.dropFirst() { try await store.pool.execute("DROP TABLE \(raw: PartitionPlan.fact(day: day).name)") }
            let faults = try await Fsck([PartitionsCheck()], pool: store.pool, pause: .zero, now: Sample.now).run().faults
            #expect(
                faults
                    == days[1...2].map {
                        "partitions: no attempts partition for \(PartitionPlan.date($0)), although the rollups count attempts of that day"
                    }
            )
        }
    }

    @Test("days that are gone before the oldest one there is are found by their counts")
    func lostHistory() async throws {
        try await withAttempts { store in
            let days = [50, 40].map { Sample.now.day - $0 }
            try await store.maintenance.maintain()
            try await store.maintenance.ensurePartitions(forDays: Set(days))
            for day in days {
                let at = Timestamp(seconds: day * 86_400)
                #expect(try await store.write([Sample.attempt("day-\(day)", at: at)], receivedAt: at) == [.accepted])
            }
            for day in days { try await store.pool.execute("DROP TABLE \(raw: PartitionPlan.fact(day: day).name)") }
            let faults = try await Fsck([PartitionsCheck()], pool: store.pool, pause: .zero, now: Sample.now).run().faults
            #expect(faults.count == 1 && faults[0].hasPrefix("partitions: no attempts partition for 2 of the days from "), "\(faults)")
        }
    }

    @Test(
        "a table is cut by place in its file without gap or overlap; what comes meanwhile is in the last piece",
        arguments: [1, 2, 3, 1024]
    )
    func pieces(pages: Int64) async throws {
        try await withAttempts { store in
            try await store.pool.execute("CREATE TABLE numbers AS SELECT generate_series(1, 1000) AS number")
            let pieces = try #require(try await FilePieces.read("numbers", pages: pages, on: store.pool))
            #expect(pieces.count == [1: 5, 2: 3, 3: 2, 1024: 1][pages])
            try await store.pool.execute("INSERT INTO numbers SELECT generate_series(1001, 2000)")
            var numbers: [Int32] = []
            for piece in pieces {
                numbers += try await store.pool.query("SELECT number FROM numbers WHERE \(piece)").map { try $0.decode(Int32.self) }
            }
            #expect(numbers.sorted() == Array(1...2000))
            #expect(try await FilePieces.read("nothing", pages: pages, on: store.pool) == nil)
        }
    }

    @Test("time is cut without gap or overlap, finer where a day is large; days that have no partition are pieces, too")
    func slices() throws {
        let day = Sample.now.day
        let partitions = [day - 6, day - 3, day - 2, day, day + 1].map(PartitionPlan.fact(day:))
        let sizes = [partitions[1].name: 900 << 20 as Int64, partitions[2].name: 5 << 40]
        let slices = FactSlices(partitions, sizes: sizes, until: Sample.now).all
        #expect(zip(slices, slices.dropFirst()).allSatisfy { $0.range.upperBound == $1.range.lowerBound && !$0.range.isEmpty })
        #expect(slices.first?.range.lowerBound == partitions[0].from && slices.last?.range.upperBound == Sample.now)
        #expect(slices.filter { $0.range.lowerBound.day == day - 3 }.count == 24)
        #expect(slices.filter { $0.range.lowerBound.day == day - 2 }.count == 1440)
        #expect(slices.filter { !$0.hasPartition }.map(\.range.lowerBound.day) == [day - 5, day - 1])
        #expect(slices.allSatisfy { $0.range.lowerBound.flooredToMinute() == $0.range.lowerBound })
    }

    @Test("keys are cut without gap or overlap")
    func stretches() {
        for estimate in [0, 5_000_000, 700_000_000, 90_000_000_000] as [Int64] {
            let stretches = LedgerSlices.keys(estimate: estimate)
            #expect(stretches.first?.lowerBound == 0 && stretches.last?.upperBound == 65_536)
            #expect(zip(stretches, stretches.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        }
    }
}

extension FsckReport {
    var faults: [String] { lines.flatMap { line in line.faults.map { "\(line.check): \($0)" } } }
    func line(_ check: String) -> Line { lines.first { $0.check == check }! }
}

extension AttemptDatabase {
    func fsck() async throws -> FsckReport {
        try await Fsck(pool: pool, pause: .zero, now: Sample.now + .seconds(600)).run()
    }
}

/// 300 attempts of two days, a third of them advanced, after a rotation that lies two days back.
func withCheckedAttempts(_ body: (AttemptDatabase) async throws -> Void) async throws {
    try await withAttempts { store in
        try await store.maintenance.maintain()
        try await store.pool.execute("UPDATE ledgerState SET frozenAt = ARRAY[\(Sample.now - .seconds(2 * 86_400))]")
        for part in 0..<3 {
            let ids = part * 100..<part * 100 + 100
            let at = { (id: Int) in Sample.now - .seconds(Int64(id) * 400) }
            _ = try await store.write(ids.map { Sample.attempt("a-\($0)", uid: "u-\($0 % 9)", status: .queued, at: at($0)) })
            _ = try await store.write(ids.filter { $0 % 3 != 0 }.map { Sample.attempt("a-\($0)", uid: "u-\($0 % 9)", at: at($0)) })
        }
        try await body(store)
    }
}
