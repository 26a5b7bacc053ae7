import Postgres
import Synchronization
import TestDatabase
import TestSupport
import Testing

@Suite("Transactions")
struct TransactionTests {
    private struct Refused: Error {}

    @Test("what returns is committed, what throws is rolled back")
    func commitAndRollback() async throws {
        try await withCounter { pool in
            try await pool.withTransaction { try await $0.execute("UPDATE counter SET value = 1 WHERE id = 1") }
            await #expect(throws: Refused.self) {
                try await pool.withTransaction { transaction in
                    try await transaction.execute("UPDATE counter SET value = 2 WHERE id = 1")
                    throw Refused()
                }
            }
            #expect(try await value(1, pool) == 1)
        }
    }

    @Test("a row for a partition that was attached a moment ago is written: a commit is seen before its notice to the sessions")
    func attachedJustNow() async throws {
        try await withDatabase(migrated: false) { pool in
            try await pool.execute("CREATE TABLE days (day integer) PARTITION BY LIST (day)")
            try await pool.execute("CREATE TABLE days_0 PARTITION OF days FOR VALUES IN (0)")
            try await pool.execute("CREATE TABLE newest (day integer)")
            try await pool.execute("INSERT INTO newest VALUES (0)")
            let written = Progress(of: 6)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<6 {
                    group.addTask {
                        // One that fails is not waited for.
                        defer { written.reached(.max, writer) }
                        var last: Int32 = 0
                        while last < 100 {
                            last = try await pool.performTransaction { connection in
                                let day = try connection.query("SELECT day FROM newest")[0].decode(Int32.self)
                                try connection.execute("INSERT INTO days VALUES (\(day))")
                                return day
                            }
                            written.reached(last, writer)
                        }
                    }
                }
                for day: Int32 in 1...100 {
                    try await pool.withTransaction { transaction in
                        try await transaction.execute("CREATE TABLE days_\(raw: "\(day)") (LIKE days)")
                        try await transaction.execute(
                            "ALTER TABLE days ATTACH PARTITION days_\(raw: "\(day)") FOR VALUES IN (\(raw: "\(day)"))"
                        )
                        try await transaction.execute("UPDATE newest SET day = \(raw: "\(day)")")
                    }
                    // One after the other: a writer meets each once.
                    while written.least < day {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                }
                try await group.waitForAll()
            }
            let fullDays = "SELECT count(*) FROM (SELECT day FROM days WHERE day > 0 GROUP BY day HAVING count(*) >= 6) AS d" as Query
            #expect(try await pool.query(fullDays)[0].decode(Int.self) == 100)
        }
    }

    @Test("a cancelled task's transaction is rolled back and its connection goes on")
    func cancelled() async throws {
        try await withCounter(maxConnections: 1) { pool in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        try await pool.withTransaction { transaction in
                            try await transaction.execute("UPDATE counter SET value = 9 WHERE id = 1")
                            withUnsafeCurrentTask { $0?.cancel() }
                            try await transaction.execute("UPDATE counter SET value = 10 WHERE id = 1")
                        }
                    }
                }
            }
            let stored = try await value(1, pool)
            #expect(stored == 0)
        }
    }

    @Test("a serialization failure (40001) is run again from the start")
    func serialization() async throws {
        try await withCounter { pool in
            let attempts = Tally()
            try await pool.withTransaction("BEGIN ISOLATION LEVEL REPEATABLE READ") { transaction in
                let attempt = attempts.next()
                try await transaction.execute("SELECT value FROM counter")
                if attempt == 1 { try await pool.execute("UPDATE counter SET value = value + 1 WHERE id = 1") }
                try await transaction.execute("UPDATE counter SET value = value + 1 WHERE id = 1")
            }
            #expect(attempts.count == 2)
            #expect(try await value(1, pool) == 2)
        }
    }

    @Test("of two sessions in a deadlock (40P01) one is run again, and both finish")
    func deadlock() async throws {
        try await withCounter { pool in
            let meeting = Meeting(of: 2)
            let attempts = Tally()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (first, second) in [(1, 2), (2, 1)] {
                    group.addTask {
                        try await pool.withTransaction { transaction in
                            _ = attempts.next()
                            try await transaction.execute("UPDATE counter SET value = value + 1 WHERE id = \(first)")
                            await meeting.arrive()
                            try await transaction.execute("UPDATE counter SET value = value + 1 WHERE id = \(second)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(attempts.count == 3)
            #expect(try await value(1, pool) == 2)
            #expect(try await value(2, pool) == 2)
        }
    }

    @Test("a lost connection is run again only for idempotent work")
    func lostConnection() async throws {
        try await withCounter { pool in
            let attempts = Tally()
            let work: @Sendable (PostgresTransaction) async throws -> Void = { transaction in
                let attempt = attempts.next()
                try await transaction.execute("UPDATE counter SET value = value + 1 WHERE id = 1")
                if attempt == 1 { try await terminateOthers(pool) }
                try await transaction.execute("UPDATE counter SET value = value + 1 WHERE id = 2")
            }
            try await pool.withTransaction(retrying: .idempotent, work)
            #expect(attempts.count == 2)
            #expect(try await value(1, pool) == 1)

            attempts.reset()
            do {
                try await pool.withTransaction(retrying: .conflicts, work)
                Issue.record("the lost transaction was reported as committed")
            } catch let error as PostgresError {
                #expect(error.isConnectionLoss)
            }
            #expect(attempts.count == 1)
            #expect(try await value(1, pool) == 1)
        }
    }

    @Test("a synchronous transaction costs one hop and rolls back as well")
    func blocking() async throws {
        try await withCounter { pool in
            try await pool.withConnection { connection in
                try await connection.perform { try $0.transaction { try $0.execute("UPDATE counter SET value = 5 WHERE id = 1") } }
                await #expect(throws: Refused.self) {
                    try await connection.perform { blocking in
                        try blocking.transaction {
                            try $0.execute("UPDATE counter SET value = 6 WHERE id = 1")
                            throw Refused()
                        }
                    }
                }
            }
            #expect(try await value(1, pool) == 5)
        }
    }

    private func value(_ id: Int, _ pool: PostgresPool) async throws -> Int {
        try await pool.query("SELECT value FROM counter WHERE id = \(id)")[0].decode(Int.self)
    }

    private func withCounter(maxConnections: Int = 8, _ body: (PostgresPool) async throws -> Void) async throws {
        try await withDatabase(migrated: false, maxConnections: maxConnections) { pool in
            try await pool.execute("CREATE TABLE counter (id bigint PRIMARY KEY, value bigint NOT NULL)")
            try await pool.execute("INSERT INTO counter VALUES (1, 0), (2, 0)")
            try await body(pool)
        }
    }
}

/// Ends every other session of the pool's database and waits until they are gone; how many.
@discardableResult
func terminateOthers(_ pool: PostgresPool) async throws -> Int {
    try await pool.query(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    ).map { try $0.decode(Bool.self) }.count { $0 }
}

/// How far each of several tasks is.
final class Progress: Sendable {
    private let values: Mutex<[Int32]>

    init(of tasks: Int) { values = Mutex(Array(repeating: 0, count: tasks)) }

    var least: Int32 { values.withLock { $0.min() ?? .max } }
    func reached(_ value: Int32, _ task: Int) { values.withLock { $0[task] = value } }
}

/// Counts across tasks.
final class Tally: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }

    func reset() { value.withLock { $0 = 0 } }
}

/// Lets the first `count` arrivals go on together; later ones do not wait.
actor Meeting {
    private let count: Int
    private var arrived = 0
    private let gate = Gate()

    init(of count: Int) { self.count = count }

    func arrive() async {
        arrived += 1
        if arrived >= count { gate.open() }
        await gate.wait()
    }
}
