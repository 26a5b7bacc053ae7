import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Attempts are counted by the app's major version")
struct AppMajorTests {
    static let versions: [(String, String)] = [
        ("3.2.0", "3"), ("4", "4"), ("10.0.1 (512)", "10"), ("0.9", "0"), ("007.1", "7"), ("2026.11", "2026"), ("3beta", "3"),
        ("20261122", ""), ("v3.2", ""), ("", ""), ("-1", ""), (".5", ""), ("beta", ""), ("\u{0663}.1", ""),
    ]

    @Test("the program and the database read versions alike", arguments: versions)
    func parse(_ version: String, _ major: String) async throws {
        #expect(AppMajor.text(AppMajor.parse(version.utf8)) == major)
        try await withDatabase { pool in
            let row = try await pool.query("SELECT pushAppMajor(\(version)), pushAppMajor(NULL)")[0]
            #expect(try row.decode((String, String).self) == (major, ""))
        }
    }

    @Test("each version has its counts, also when an attempt moves on; fsck finds a count under another one")
    func counts() async throws {
        try await withAttempts { store in
            func attempt(_ id: String, _ version: String?, _ status: AttemptStatus = .sent) -> Attempt {
                var attempt = Sample.attempt(id, status: status)
                attempt.appVersion = version
                return attempt
            }
            _ = try await store.write([
                attempt("a", "3.1", .queued), attempt("b", "3.2"), attempt("c", "4.0"), attempt("d", nil), attempt("e", "x"),
            ])
            _ = try await store.write([attempt("a", "3.1", .failed)])
            let counts = try await store.pool.query(
                """
                SELECT appMajor || ' ' || status, sum(attempts)::bigint FROM attemptRollups GROUP BY 1 HAVING sum(attempts) <> 0 ORDER BY 1
                """
            ).map { try $0.decode((String, Int64).self) }
            #expect(counts.map(\.0) == [" sent", "3 failed", "3 sent", "4 sent"] && counts.map(\.1) == [2, 1, 1, 1])
            func faults() async throws -> Int {
                let context = FsckContext(
                    pool: store.pool,
                    now: Sample.now + .seconds(3600),
                    days: 8,
                    plan: PartitionPlan(),
                    pause: .zero,
                    onProgress: { _, _ in }
                )
                return try await RollupsCheck().run(context).reduce(0) { $0 + $1.faults.count }
            }
            #expect(try await faults() == 0)
            try await store.pool.execute("UPDATE attemptRollups SET appMajor = '5' WHERE appMajor = '4'")
            #expect(try await faults() == 2, "one too few, one too many")
        }
    }
}
