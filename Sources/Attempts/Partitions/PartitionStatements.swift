import Postgres
import PushContract

/// DDL of partitions. Names are ours, never a caller's, so they may be spliced.
enum PartitionStatements {
    /// All partitions of facts, rollups and latencies, in lower case as in the catalogue.
    static func names(on session: some PostgresSession) async throws -> Set<String> {
        let rows = try await session.query(
            """
            SELECT child.relname::text FROM pg_inherits
            JOIN pg_class AS child ON child.oid = inhrelid
            WHERE inhparent IN ('notificationDeliveryAttempts'::regclass, 'attemptRollups'::regclass, 'attemptLatencies'::regclass)
              AND NOT inhdetachpending
            """
        )
        return try Set(rows.map { try $0.decode(String.self) })
    }

    /// Whether there is a table of this name among ours, a partition or not.
    static func isTable(_ name: String, on session: some PostgresSession) async throws -> Bool {
        let rows = try await session.query(
            """
            SELECT EXISTS (
                SELECT 1 FROM pg_class
                WHERE relname = \(name) AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'ledgerState'::regclass))
            """
        )
        return try rows[0].decode(Bool.self)
    }

    /// Whether the rollups count attempts of a day.
    static func isCounted(_ day: Int64) -> Query {
        let partition = PartitionPlan.fact(day: day)
        return "SELECT coalesce(sum(attempts), 0) <> 0 FROM attemptRollups WHERE minute >= \(partition.from) AND minute < \(partition.to)"
    }

    /// Created separately and then attached: attaching does not block readers and writers of the parent, creating in place would.
    static func create(
        _ partition: PartitionPlan.Partition,
        of parent: String,
        column: String,
        on transaction: PostgresTransaction
    ) async throws {
        let fill = parent == "notificationDeliveryAttempts" ? "" : " WITH (fillfactor = 60)"
        let range = "\(column) >= '\(partition.from)' AND \(column) < '\(partition.to)'"
        try await transaction.execute("CREATE TABLE \(raw: partition.name) (LIKE \(raw: parent) INCLUDING DEFAULTS)\(raw: fill)")
        try await transaction.execute("ALTER TABLE \(raw: partition.name) ADD CONSTRAINT inRange CHECK (\(raw: range))")
        try await transaction.execute(
            "ALTER TABLE \(raw: parent) ATTACH PARTITION \(raw: partition.name) FOR VALUES FROM ('\(raw: partition.from.rfc3339)') TO ('\(raw: partition.to.rfc3339)')"
        )
        try await transaction.execute("ALTER TABLE \(raw: partition.name) DROP CONSTRAINT inRange")
    }

    /// All generations of the ledger that are attached, in lower case.
    static func generations(on session: some PostgresSession) async throws -> Set<String> {
        let rows = try await session.query(
            """
            SELECT child.relname::text FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
            WHERE inhparent = 'attemptLedger'::regclass AND NOT inhdetachpending
            """
        )
        return try Set(rows.map { try $0.decode(String.self) })
    }

    static func createGeneration(_ number: Int32, on transaction: PostgresTransaction) async throws {
        let name = "attemptLedger_\(number)"
        try await transaction.execute("CREATE TABLE \(raw: name) (LIKE attemptLedger INCLUDING DEFAULTS)")
        try await transaction.execute("ALTER TABLE attemptLedger ATTACH PARTITION \(raw: name) FOR VALUES IN (\(raw: "\(number)"))")
    }

    static func parent(of name: String) -> String {
        if name.hasPrefix("attemptledger_") { return "attemptLedger" }
        if name.hasPrefix("attemptlatencies_") { return "attemptLatencies" }
        return name.hasPrefix("attemptrollups_") ? "attemptRollups" : "notificationDeliveryAttempts"
    }

    enum Parsed {
        case fact(day: Int64)
        /// Of rollups or of latencies.
        case rollup(PartitionPlan.Partition)
    }

    /// What a partition contains, by its name; nil for other names.
    static func parse(_ name: String) -> Parsed? {
        let digits = name.drop { $0 != "_" }.dropFirst()
        guard digits.allSatisfy(\.isNumber) else { return nil }
        let day = digits.count == 8 ? digits.suffix(2) : "01"
        guard digits.count == 8 || digits.count == 6 else { return nil }
        let date = "\(digits.prefix(4))-\(digits.dropFirst(4).prefix(2))-\(day)T00:00:00Z"
        guard let moment = Timestamp(rfc3339: date) else { return nil }
        if name.hasPrefix("notificationdeliveryattempts_") { return .fact(day: moment.day) }
        if name.hasPrefix("attemptrollups_") { return .rollup(PartitionPlan.rollup(day: moment.day)) }
        if name.hasPrefix("attemptlatencies_") { return .rollup(PartitionPlan.rollup(day: moment.day).latencies) }
        return nil
    }
}
