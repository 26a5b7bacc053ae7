import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite(
    "Ingestion while the database refuses a batch",
    .disabled(if: TestEngine.isDistributed, "the faults are made by triggers, which distributed tables do not have")
)
struct IngestFaultTests {
    /// Makes every write of attempts fail with `code` where `condition` holds.
    private func refuse(_ code: String, _ message: String, where condition: String, in store: AttemptDatabase) async throws {
        try await store.pool.withConnection { connection in
            try await connection.executeScript(
                """
                CREATE SEQUENCE tries;
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    PERFORM nextval('tries');
                    IF \(condition) THEN RAISE EXCEPTION '\(message)' USING ERRCODE = '\(code)'; END IF;
                    RETURN NULL;
                END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON notificationDeliveryAttempts FOR EACH STATEMENT EXECUTE FUNCTION refuse()
                """
            )
        }
    }

    private static let nodeAway = "failure on connection marked as essential: worker:5432"

    private func submit(_ attempts: [Attempt], to store: AttemptDatabase) async throws -> [AttemptResult] {
        let ingestor = AttemptIngestor(pool: store.pool, maintenance: store.maintenance, logger: .silent, now: { Sample.now })
        let running = Task { try await ingestor.run() }
        defer { running.cancel() }
        return try await ingestor.submit(try Sample.batch(attempts))
    }

    private func tries(_ store: AttemptDatabase) async throws -> Int {
        try await store.pool.query("SELECT last_value FROM tries")[0].decode(Int.self)
    }

    @Test("a part of the database that is away for a moment costs tries, and the batch is stored once", arguments: [1, 40])
    func briefly(count: Int) async throws {
        try await withAttempts { store in
            try await refuse("XX000", Self.nodeAway, where: "currval('tries') <= 3", in: store)
            let results = try await submit((0..<count).map { Sample.attempt("b-\($0)") }, to: store)
            #expect(results == Array(repeating: .accepted, count: count))
            #expect(try await tries(store) == 4)
            try await store.expectRollupsEqualRecount(total: count)
        }
    }

    @Test("one that stays away is given up after a few tries, as unavailable: the caller gets 503")
    func forLong() async throws {
        try await withAttempts { store in
            try await refuse("XX000", Self.nodeAway, where: "true", in: store)
            let error = await #expect(throws: PostgresError.self) { _ = try await submit([Sample.attempt("l-1")], to: store) }
            #expect(error?.code == .internalError && error?.isUnavailable == true)
            #expect(try await tries(store) <= 8)
            try await store.pool.execute("DROP TRIGGER refuse ON notificationDeliveryAttempts")
            #expect(try await submit([Sample.attempt("l-1")], to: store) == [.accepted])
        }
    }

    @Test("a missing partition is made, also where the error hides that it is one")
    func partition() async throws {
        try await withAttempts { store in
            let day = Sample.now - .seconds(5 * 86_400)
            let name = PartitionPlan.fact(day: day.day).name
            if try await PartitionStatements.names(on: store.pool).contains(name.lowercased()) {
                try await store.pool.execute("DROP TABLE \(raw: name)")
            }
            try await refuse("XX000", Self.nodeAway, where: "to_regclass('\(name)') IS NULL", in: store)
            #expect(try await submit([Sample.attempt("p-1", at: day)], to: store) == [.accepted])
        }
    }

    @Test("rows that find no partition although it is there, as just after it was attached: the transaction is run again, whoever writes")
    func attachedJustNow() async throws {
        try await withAttempts { store in
            let message = "no partition of relation \"notificationdeliveryattempts\" found for row"
            try await refuse("23514", message, where: "currval('tries') <= 3", in: store)
            let results = try await submit((0..<20).map { Sample.attempt("o-\($0)") }, to: store)
            #expect(results == Array(repeating: .accepted, count: 20))
            // As what is sent is recorded, and imported.
            for (index, retry) in [TransactionRetry.conflicts, .idempotent].enumerated() {
                try await store.pool.execute("SELECT setval('tries', 2)")
                let batch = try Sample.batch([Sample.attempt("r-\(index)")])
                let written = try await store.pool.performTransaction(retrying: retry) {
                    try AttemptWriter.write(batch, on: $0, slot: 0, receivedAt: Sample.now)
                }
                #expect(written == [.accepted])
            }
            try await store.expectRollupsEqualRecount(total: 22)
        }
    }

    @Test("a row that violates a constraint is no matter of partitions: it is refused at once")
    func constraint() async throws {
        try await withAttempts { store in
            try await store.pool.execute(
                "ALTER TABLE notificationDeliveryAttempts ADD CONSTRAINT noOdd CHECK (uid <> 'odd')"
            )
            let start = ContinuousClock.now
            let error = await #expect(throws: PostgresError.self) { _ = try await submit([Sample.attempt("c-1", uid: "odd")], to: store) }
            #expect(error?.code == .checkViolation && error?.isMissingPartition == false && error?.isUnavailable == false)
            #expect(ContinuousClock.now - start < .seconds(20))
            #expect(try await submit([Sample.attempt("c-2")], to: store) == [.accepted])
        }
    }
}
