import LocalPostgres
import Logging
import Postgres
import Synchronization
import TestDatabase
import TestSupport
import Testing

@Suite("PostgresPool")
struct PoolTests {
    @Test("never holds more connections than its limit, and serves everybody")
    func bound() async throws {
        try await withDatabase(migrated: false, maxConnections: 3) { pool in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<60 {
                    group.addTask {
                        try await pool.query(
                            "SELECT count(*) FROM pg_stat_activity, pg_sleep(0.002) WHERE datname = current_database()"
                        )[0].decode(Int.self)
                    }
                }
                for try await count in group { #expect(count <= 3) }
            }
        }
    }

    @Test("while the server takes no further connection, all are served by those that are open")
    func serverIsFull() async throws {
        try await withDatabaseURL(migrated: false) { url in
            let owner = try await PostgresConnection.connect(PostgresConfiguration(url: url))
            let role = "limited_\(UInt32.random(in: 0..<UInt32.max))"
            try await owner.executeScript("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 1")
            let limited = url + (url.contains("?") ? "&" : "?") + "user=\(role)"
            let pool = PostgresPool(configuration: PostgresConfiguration(url: limited, maxConnections: 4), logger: .silent)
            defer { pool.close() }
            _ = try await pool.query("SELECT 1")
            let served = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<20 {
                    group.addTask { try await pool.query("SELECT \(number)::bigint FROM pg_sleep(0.005)")[0].decode(Int.self) }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(served.count == 20)
            try await owner.executeScript("DROP ROLE \(role)")
        }
    }

    @Test("waiters are served in the order they came")
    func order() async throws {
        try await withDatabase(migrated: false, maxConnections: 1) { pool in
            let served = Served()
            try await withThrowingTaskGroup(of: Void.self) { group in
                try await pool.withConnection { _ in
                    for number in 0..<5 {
                        group.addTask {
                            try await pool.withConnection { _ in served.add(number) }
                        }
                        try await eventually("it waits") { pool.waiting == number + 1 }
                    }
                }
                try await group.waitForAll()
            }
            #expect(served.numbers == [0, 1, 2, 3, 4])
        }
    }

    @Test("who waits too long gets poolExhausted; a cancelled waiter leaves at once")
    func deadline() async throws {
        try await withDatabaseURL(migrated: false) { url in
            let configuration = PostgresConfiguration(url: url, maxConnections: 1, acquireTimeout: .milliseconds(50))
            let pool = PostgresPool(configuration: configuration, logger: .silent)
            try await pool.withConnection { _ in
                #expect(await code { try await pool.query("SELECT 1") } == .poolExhausted)
            }
            let patient = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 1), logger: .silent)
            try await patient.withConnection { _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await #expect(throws: CancellationError.self) { try await patient.execute("SELECT 1") } }
                    try await eventually("it waits") { patient.waiting == 1 }
                    group.cancelAll()
                }
            }
            #expect(try await pool.query("SELECT 1").count == 1)
            #expect(try await patient.query("SELECT 1").count == 1)
        }
    }

    @Test("connections that the server ended while idle are replaced before anybody notices")
    func terminatedWhileIdle() async throws {
        try await withDatabaseURL(migrated: false) { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 4), logger: .silent)
            let other = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 1), logger: .silent)
            let backend: Query = "SELECT pg_backend_pid() FROM pg_sleep(0.02)"
            for _ in 1...3 {
                var terminated = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<4 { group.addTask { try await pool.query(backend)[0].decode(Int.self) } }
                    return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
                }
                let count = try await terminateOthers(other)
                #expect(count >= terminated.count && count > 0)
                for _ in 0..<5 {
                    let replacement = try await pool.query(backend)[0].decode(Int.self)
                    #expect(!terminated.contains(replacement))
                }
                terminated.insert(try await pool.query(backend)[0].decode(Int.self))
                #expect(try await terminateOthers(other) >= 1)
                let replacement = try await pool.withTransaction { try await $0.query(backend)[0].decode(Int.self) }
                #expect(!terminated.contains(replacement))
            }
        }
    }

    @Test("a connection left inside a transaction is not given to the next caller")
    func leftOpen() async throws {
        try await withDatabase(migrated: false, maxConnections: 1) { pool in
            try await pool.execute("CREATE TABLE marks (id bigint)")
            try await pool.withConnection { connection in
                try await connection.executeScript("BEGIN")
                try await connection.execute("INSERT INTO marks VALUES (1)")
            }
            let count = try await pool.query("SELECT count(*) FROM marks")[0].decode(Int.self)
            #expect(count == 0)
        }
    }

    @Test("when the server crashes, callers hear it at once, and the pool works again once the server does")
    func restart() async throws {
        try await withScratch("crashing") { directory in
            let settings = LocalPostgresConfiguration(directory: directory, maxConnections: 20)
            let first = try await LocalPostgres.start(settings, logger: .silent)
            let pool = PostgresPool(configuration: PostgresConfiguration(url: first.socketURL), logger: .silent)
            try await pool.execute("CREATE TABLE kept AS SELECT 1 AS id")
            first.stopBlocking(.immediate)
            for _ in 1...3 {
                do {
                    try await pool.execute("SELECT 1")
                    Issue.record("a stopped server answered")
                } catch let error as PostgresError {
                    #expect(error.isUnavailable)
                }
            }
            let second = try await LocalPostgres.start(settings, logger: .silent)
            #expect(second.socketURL == first.socketURL)
            // At most the longest back-off, two seconds.
            try await eventually("the pool works again", within: .seconds(20)) {
                await code(of: { try await pool.execute("SELECT id FROM kept") }) == nil
            }
            #expect(try await pool.query("SELECT id FROM kept").count == 1)
            pool.close()
            await second.stop()
        }
    }

    @Test("a closed pool refuses, and lets go of its connections")
    func closed() async throws {
        try await withDatabaseURL(migrated: false) { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url), logger: .silent)
            try await pool.execute("SELECT 1")
            pool.close()
            #expect(await code { try await pool.execute("SELECT 1") } == .connectionFailure)
        }
    }
}

private final class Served: Sendable {
    private let list = Mutex<[Int]>([])
    var numbers: [Int] { list.withLock { $0 } }
    func add(_ number: Int) { list.withLock { $0.append(number) } }
}
