import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Values of labels are counted apart up to a limit")
struct LabelLimiterTests {
    private static let now = Timestamp(rfc3339: "2026-02-12T12:00:00Z")!

    private func attempt(
        _ id: String,
        app: String?,
        status: AttemptStatus = .sent,
        version: String? = nil,
        pushType: String? = nil,
        at moment: Timestamp = now
    ) -> Attempt {
        Attempt(
            attemptId: id,
            uid: "u",
            platform: .android,
            provider: .fcm,
            tokenHash: TokenHash(rawValue: "sha256:" + String(repeating: "a", count: 64))!,
            eventType: .send,
            status: status,
            attemptedAt: moment,
            requestId: "r",
            app: app,
            pushType: pushType,
            appVersion: version,
            latencyMs: 30
        )
    }

    private func batch(_ attempts: [Attempt], _ limiter: LabelLimiter, author: String = "a key") throws -> AttemptBatch {
        var batch = AttemptBatch()
        for attempt in attempts { try batch.append(attempt) }
        limiter.mark(&batch, author: author)
        return batch
    }

    private static func limiter(apps: Int = 2, versions: Int = 2) -> LabelLimiter {
        var limits = LabelLimiter.Limits()
        limits.apps = apps
        limits.appVersions = versions
        limits.pushTypes = versions
        return LabelLimiter(limits: limits)
    }

    @Test("beyond the limit of an author and day values are folded; what was counted apart stays so")
    func limits() throws {
        let limiter = Self.limiter()
        let first = try batch(["a", "b", "c", "a", "d", nil].enumerated().map { attempt("\($0)", app: $1) }, limiter)
        #expect(first.records.map(\.folded) == [[], [], .app, [], .app, []])
        #expect(try batch([attempt("6", app: "b"), attempt("7", app: "c")], limiter).records.map(\.folded) == [[], .app])
        let tomorrow = Self.now + .seconds(86_400)
        let days = [tomorrow, Self.now, tomorrow].enumerated().map { attempt("8-\($0)", app: "c", at: $1) }
        #expect(try batch(days, limiter).records.map(\.folded) == [[], .app, []])
        #expect(try batch([attempt("9", app: "c")], limiter, author: "another key").records.map(\.folded) == [[]])
        #expect(
            limiter.takeFolds() == [LabelLimiter.Fold(author: "a key", day: Self.now.minute / 1440, label: "app", attempts: 4)]
        )
        #expect(limiter.takeFolds() == [])
    }

    @Test("apps that are kept are counted apart after any number of others, and take no place of theirs")
    func kept() throws {
        let limiter = Self.limiter()
        let reported = ["x", "real", "y", "z", "real"].enumerated().map { attempt("\($0)", app: $1) }
        #expect(try batch(reported, limiter).records.map(\.folded) == [[], [], .app, .app, []])
        limiter.keep(apps: ["z", "real"])
        #expect(try batch(reported, limiter).records.map(\.folded) == [[], [], .app, [], []])
        #expect(try batch(reported, limiter, author: "another key").records.map(\.folded) == [[], [], [], [], []])
        limiter.keep(apps: [])
        #expect(try batch([attempt("6", app: "z"), attempt("7", app: "real")], limiter).records.map(\.folded) == [.app, []])
    }

    @Test("the usual apps of a day are those of the most hours, whatever a burst of other names")
    func usual() async throws {
        try await withDatabase { pool in
            let everyHour = (0..<5).map { attempt("real-\($0)", app: "real", at: Self.now - .seconds(3600 * $0)) }
            let burst = (0..<60).map { attempt("burst-\($0)", app: "burst \($0 % 3)", at: Self.now - .seconds(60)) }
            let old = (0..<9).map { attempt("old-\($0)", app: "old", at: Self.now - .seconds(90_000 + 3600 * $0)) }
            let nameless = (0..<9).map { attempt("nameless-\($0)", app: nil, at: Self.now - .seconds(3600 * $0)) }
            var all = AttemptBatch()
            for attempt in everyHour + burst + old + nameless { try all.append(attempt) }
            try await PartitionMaintenance(pool: pool, logger: .silent).ensurePartitions(for: all)
            try await write(all, pool)
            #expect(try await UsualApps.read(limit: 2, before: Self.now, on: pool) == ["real", "burst 0"])
            #expect(try await UsualApps.read(limit: 9, before: Self.now, on: pool).count == 4)
        }
    }

    @Test("many keys that report many days have their limits all the same")
    func manyDays() throws {
        let limiter = Self.limiter()
        for name in ["a", "b", "c"] {
            for author in 0..<50 {
                for day in 0..<7 {
                    let moment = Self.now - .seconds(86_400 * day)
                    let marked = try batch([attempt("1", app: name, at: moment)], limiter, author: "key \(author)")
                    #expect(marked.records.map(\.folded) == [name == "c" ? .app : []])
                }
            }
        }
    }

    @Test("memory is bounded by the limits, however many values come")
    func bounded() throws {
        let limiter = Self.limiter()
        for start in 0..<20 {
            let marked = try batch((0..<500).map { attempt("\($0)", app: "app \(start * 500 + $0)", version: "\(start).\($0)") }, limiter)
            let apart = marked.records.filter { $0.folded.isEmpty }.count
            #expect(apart == (start == 0 ? 2 : 0))
        }
    }

    @Test("rollups equal a recount, also after advances by another instance; the rows keep their values", arguments: [true, false])
    func recount(asSingleRows: Bool) async throws {
        try await withDatabase { pool in
            let maintenance = PartitionMaintenance(pool: pool, logger: .silent)
            let limiter = Self.limiter()
            let attempts = (0..<(asSingleRows ? 8 : 40)).map {
                attempt("\($0)", app: "app \($0 % 5)", status: .queued, version: "\($0 % 4).1", pushType: "type \($0 % 6)")
            }
            let queued = try batch(attempts, limiter)
            try await maintenance.ensurePartitions(for: queued)
            try await write(queued, pool)
            // Another instance, which has seen other apps first, and one of them under another app.
            let other = Self.limiter()
            _ = try batch([attempt("x", app: "app 4"), attempt("y", app: "app 3")], other)
            var advanced = attempts
            for index in advanced.indices { advanced[index].status = .sent }
            advanced[0].app = "app 9"
            try await write(try batch(advanced, other), pool)
            let stored = try await pool.query(
                "SELECT attemptId, app, foldedLabels::bigint FROM notificationDeliveryAttempts ORDER BY attemptId::integer LIMIT 8"
            ).map { try $0.decode((String, String, Int64).self) }
            #expect(stored.map(\.1) == ["app 9", "app 1", "app 2", "app 3", "app 4", "app 0", "app 1", "app 2"])
            #expect(stored.map { $0.2 & 1 } == [1, 0, 1, 1, 1, 0, 0, 1])
            let counted = try await pool.query(
                "SELECT app, sum(attempts)::bigint FROM attemptRollups GROUP BY 1 HAVING sum(attempts) <> 0 ORDER BY 1"
            ).map { try $0.decode((String, Int64).self) }
            #expect(counted.map(\.0) == ["app 0", "app 1", "other"])
            let timed = try await pool.query(
                "SELECT app, sum(attempts)::bigint FROM attemptLatencies GROUP BY 1 HAVING sum(attempts) <> 0 ORDER BY 1"
            ).map { try $0.decode((String, Int64).self) }
            #expect(timed.map(\.0) == counted.map(\.0) && timed.map(\.1) == counted.map(\.1))
            let majors = try await pool.query("SELECT DISTINCT appMajor FROM attemptRollups WHERE attempts <> 0 ORDER BY 1")
                .map { try $0.decode(String.self) }
            #expect(majors == ["0", "1", "other"])
            let types = try await pool.query("SELECT DISTINCT pushType FROM attemptRollups WHERE attempts <> 0 ORDER BY 1")
                .map { try $0.decode(String.self) }
            #expect(types == ["other", "type 0", "type 1"])
            let labelled = try await pool.query("SELECT DISTINCT pushType FROM attemptLabels ORDER BY 1").map { try $0.decode(String.self) }
            #expect(labelled == types)
            let context = FsckContext(
                pool: pool,
                now: Self.now + .seconds(3600),
                days: 2,
                plan: PartitionPlan(),
                pause: .zero,
                onProgress: { _, _ in }
            )
            #expect(try await RollupsCheck().run(context).flatMap(\.faults) == [])
        }
    }

    private func write(_ batch: AttemptBatch, _ pool: PostgresPool) async throws {
        try await pool.performTransaction {
            _ = try AttemptWriter.write(batch, on: $0, slot: 0, receivedAt: Self.now)
        }
    }

    @Test("the fresh writer stores what is folded, by statement and by COPY", arguments: [3, 40])
    func fresh(count: Int) async throws {
        try await withDatabase { pool in
            let hints = LedgerHints()
            let limiter = Self.limiter()
            let marked = try batch((0..<count).map { attempt("\($0)", app: "app \($0)") }, limiter)
            try await PartitionMaintenance(pool: pool, logger: .silent).ensurePartitions(for: marked)
            try await pool.execute("UPDATE ledgerState SET frozenAt = ARRAY[\(Self.now)]")
            try await pool.performTransaction { hints.record(try LedgerGenerations.read($0)) }
            let isWritten = try await pool.withConnection { connection in
                try await connection.perform { try FreshWriter(hints: hints, slot: 1).write(marked, receivedAt: Self.now, on: $0) }
            }
            #expect(isWritten)
            let folded = try await pool.query("SELECT count(*) FROM notificationDeliveryAttempts WHERE foldedLabels = 1")[0].decode(
                Int.self
            )
            let counted = try await pool.query("SELECT sum(attempts)::bigint FROM attemptRollups WHERE app = 'other'")[0].decode(Int64.self)
            #expect(folded == count - 2 && counted == Int64(count - 2))
        }
    }
}
