import Postgres
import PushContract

/// Drops a partition without blocking writers: it is marked, detached concurrently, then dropped.
///
/// `DETACH … CONCURRENTLY` closes the partition to new queries at once, then waits for the transactions that may still read it, and
/// blocks no other session meanwhile. One that reads for longer than `patience` leaves it half detached; a later round finishes it. Only
/// one partition of a table can be so at a time; the others wait their turn. The mark says that the table is ours to drop: one that
/// an operator detached by hand, to keep it, is left as it is. So the mark of a table that could not be detached is removed.
struct PartitionRetirement {
    enum Outcome: Equatable {
        case dropped
        /// Somebody reads it still, or another instance is at it.
        case later
    }

    static let mark = "expired: pushwatch drops it"

    let pool: PostgresPool
    /// How long one step may wait for readers.
    var waitLimit = PartitionRetirement.standardWaitLimit

    /// Shorter than `AnalystPolicy.blockingLimit`: an analyst's query is not ended for the sake of a partition that can go later.
    static let standardWaitLimit = Duration.milliseconds(1500)

    func retire(_ name: String, of parent: String) async throws -> Outcome {
        try await unlessBusy {
            try await setMark(true, of: name)
            do {
                try await detach(name, of: parent)
            } catch {
                // Where this fails as well, as in a task that is cancelled, the next round does it.
                try? await correctMark(of: name)
                throw error
            }
            try await step("DROP TABLE \(raw: name)")
        }
    }

    /// Removes the marks of tables that are partitions still: nothing has detached them, and perhaps they are no longer expired.
    func correctMarks() async throws {
        let rows = try await pool.query(
            """
            SELECT child.relname::text FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
            WHERE child.relkind = 'r' AND child.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'ledgerState'::regclass)
              AND obj_description(child.oid, 'pg_class') = \(PartitionRetirement.mark) AND NOT inhdetachpending
            """
        )
        for row in rows { try? await correctMark(of: row.decode(String.self)) }
    }

    /// A half detached table gets the mark back, in case another instance has removed it just before: it would never be finished.
    private func correctMark(of name: String) async throws {
        let rows = try await pool.query("SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass(\(name))")
        guard let isHalfDetached = try rows.first?.decode(Bool.self) else { return }
        try await setMark(isHalfDetached, of: name)
    }

    private func setMark(_ isMarked: Bool, of name: String) async throws {
        let text = isMarked ? "'\(PartitionRetirement.mark)'" : "NULL"
        try await step("COMMENT ON TABLE \(raw: name) IS \(raw: text)")
    }

    /// What an earlier round, or an instance that died, has left behind: half detached, or detached and not dropped.
    func finish(_ name: String, of parent: String?) async throws -> Outcome {
        try await unlessBusy {
            if let parent { try await step("ALTER TABLE \(raw: parent) DETACH PARTITION \(raw: name) FINALIZE") }
            try await step("DROP TABLE \(raw: name)")
        }
    }

    /// What is to be finished; the parent where it is half detached.
    func incomplete() async throws -> [(name: String, parent: String?)] {
        let rows = try await pool.query(
            """
            SELECT child.relname::text, parent.relname::text
            FROM pg_class AS child LEFT JOIN pg_inherits ON inhrelid = child.oid LEFT JOIN pg_class AS parent ON parent.oid = inhparent
            WHERE child.relkind = 'r' AND child.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'ledgerState'::regclass)
              AND obj_description(child.oid, 'pg_class') = \(PartitionRetirement.mark) AND (inhparent IS NULL OR inhdetachpending)
            ORDER BY 1
            """
        )
        return try rows.map { row in
            let (name, parent) = try row.decode((String, String?).self)
            return (name, parent)
        }
    }

    /// One statement of DDL with a limit to its waiting.
    private func step(_ statement: Query) async throws {
        try await pool.withTransaction(retrying: .never) { transaction in
            try await transaction.execute("SET LOCAL lock_timeout = \(raw: String(waitLimit.microseconds / 1000))")
            try await transaction.execute(statement)
        }
    }

    private func detach(_ name: String, of parent: String) async throws {
        // Distributed tables do not have it: the plain form makes writers wait, so it is given up after a moment.
        if try await DatabaseEngine.isDistributed(parent, on: pool) {
            return try await pool.withTransaction(retrying: .never) { transaction in
                try await transaction.execute("SET LOCAL lock_timeout = '1s'")
                try await transaction.execute("ALTER TABLE \(raw: parent) DETACH PARTITION \(raw: name)")
            }
        }
        try await pool.withConnection { connection in
            try await connection.executeScript("ALTER TABLE \(parent) DETACH PARTITION \(name) CONCURRENTLY", cancelledAfter: waitLimit)
        }
    }

    private func unlessBusy(_ body: () async throws -> Void) async throws -> Outcome {
        do {
            try await body()
            return .dropped
        } catch let error as PostgresError where PartitionRetirement.isPassing(error) {
            return .later
        }
    }

    /// Waited too long, another instance was quicker, or (55000) another partition of the table is half detached.
    private static func isPassing(_ error: PostgresError) -> Bool {
        error.isSerializationConflict || error.code == .queryCancelled || error.code == .undefinedTable || error.code.rawValue == "55000"
    }
}
