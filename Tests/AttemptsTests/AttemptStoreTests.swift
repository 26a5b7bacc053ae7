import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Reading attempts")
struct AttemptStoreTests {
    @Test(
        "attempts of other apps are looked up pair by pair, also with a plan for any number of ids: not each moment with each key",
        .disabled(if: TestEngine.isDistributed, "the plan is that of one server")
    )
    func otherApps() async throws {
        try await withAttempts(days: 0) { store in
            let attempts = (0..<3_000).map { number in
                var attempt = Sample.attempt("o-\(number)", at: Sample.now - .seconds(Int64(number)))
                if number % 3 == 1 { attempt.app = "com.example.other" }
                if number % 3 == 2 { attempt.app = nil }
                return attempt
            }
            #expect(try await store.write(attempts).allSatisfy { $0 == .accepted })
            var configuration = store.pool.configuration
            configuration.maxConnections = 1
            configuration.looksUpByIndex = true
            let reader = PostgresPool(configuration: configuration, logger: .silent)
            defer { reader.close() }

            let keys = attempts.map { AttemptKey(attemptId: $0.attemptId) }
            let found = try await AttemptStore(reader).keys(keys, ofOtherAppsThan: ["com.example.app"])
            #expect(found == Set(keys.indices.filter { $0 % 3 != 0 }.map { keys[$0] }))

            let statement = AttemptStore.otherApps([(key: keys[0], attemptedAt: Sample.now)], than: ["com.example.app"])
            let plan = try await reader.withTransaction { transaction in
                try await transaction.execute("SET LOCAL plan_cache_mode = force_generic_plan")
                try await transaction.execute("PREPARE lookup (timestamptz[], uuid[], text[]) AS \(raw: statement.sql)")
                return try await transaction.query(
                    """
                    EXPLAIN (COSTS OFF) EXECUTE lookup (
                        '{2026-03-10T12:00:00Z}', '{00000000-0000-0000-0000-000000000001}', '{com.example.app}')
                    """
                ).map { try $0.decode(String.self) }
            }
            let conditions = plan.filter { $0.contains("Index Cond") }
            #expect(!conditions.isEmpty && conditions.allSatisfy { $0.contains("wanted.at") && !$0.contains("ANY") }, "\(plan)")
        }
    }
}
