import Foundation
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Postgres

/// A stopped server process is not dead: its kernel goes on acknowledging, and no answer ever comes.
@Suite("Deadlines of database calls")
struct DeadlineTests {
    private static let limit: Duration = .milliseconds(300)

    /// Stops the server process of `connection` while `body` runs.
    private func stopping<T>(_ connection: PostgresConnection, _ body: () async throws -> T) async throws -> T {
        let process = Int32(try await connection.query("SELECT pg_backend_pid()")[0].decode(Int.self))
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        return try await body()
    }

    private func expectTimeout(within bound: Duration = .seconds(15), _ body: () async throws -> Void) async {
        let start = ContinuousClock.now
        let error = await #expect(throws: PostgresError.self) { try await body() }
        #expect(error?.code == .callTimeout && error?.isConnectionLoss == true && error?.isUnavailable == true, "\(error as Any)")
        #expect(ContinuousClock.now - start < bound)
    }

    @Test(
        "a query, a COPY and a pipeline to a server that does not answer end by the deadline, and the connection is left",
        arguments: ["query", "copy", "pipeline", "script"]
    )
    func silent(call: String) async throws {
        try await withDatabaseURL(migrated: false) { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, callTimeout: Self.limit), logger: .silent)
            try await pool.execute("CREATE TABLE items (name text)")
            // More than the socket takes at once.
            let rows = [UInt8](repeating: UInt8(ascii: "n"), count: 8 << 20)
            try await pool.withConnection { connection in
                try await stopping(connection) {
                    await expectTimeout {
                        switch call {
                        case "query": _ = try await connection.query("SELECT 1 WHERE \(true)")
                        case "copy": try await connection.copyIn("COPY items FROM STDIN", data: rows)
                        case "pipeline": try await connection.perform { try $0.pipeline(["SELECT 1", "SELECT 2"]) }
                        default: try await connection.executeScript("SELECT 1")
                        }
                    }
                    let isHealthy = try await connection.perform { $0.isHealthy }
                    #expect(!isHealthy)
                    // Without waiting once more.
                    let start = ContinuousClock.now
                    await #expect(throws: PostgresError.self) { try await connection.query("SELECT 1") }
                    #expect(ContinuousClock.now - start < .seconds(20))
                }
            }
            #expect(try await pool.query("SELECT 1").count == 1)
            #expect(try await pool.query("SELECT count(*) FROM items")[0].decode(Int.self) == 0)
        }
    }

    @Test("a COMMIT that is not answered is unknown: run again only where the work is idempotent")
    func unknownCommit() async throws {
        try await withDatabaseURL(migrated: false) { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, callTimeout: Self.limit), logger: .silent)
            try await pool.execute("CREATE TABLE counter (value integer)")
            for (retry, expected) in [(TransactionRetry.conflicts, 1), (.idempotent, 2)] {
                let attempts = Tally()
                let stopped = Tally()
                let result: Result<Void, any Error>
                do {
                    try await pool.withTransaction(retrying: retry) { transaction in
                        try await transaction.execute("INSERT INTO counter VALUES (1)")
                        let process = Int32(try await transaction.query("SELECT pg_backend_pid()")[0].decode(Int.self))
                        if attempts.next() == 1 {
                            kill(process, SIGSTOP)
                            for _ in 0..<Int(process) { _ = stopped.next() }
                        }
                    }
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                kill(Int32(stopped.count), SIGCONT)
                #expect(attempts.count == expected)
                if expected == 1 {
                    let error = #expect(throws: PostgresError.self) { try result.get() }
                    #expect(error?.code == .callTimeout)
                } else {
                    try result.get()
                }
            }
        }
    }

    @Test("a request's deadline ends its calls, its wait for a connection and its repetitions")
    func request() async throws {
        try await withDatabaseURL(migrated: false) { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 1), logger: .silent)
            try await pool.withConnection { connection in
                await WorkDeadline.$current.withValue(WorkDeadline(Self.limit)) {
                    #expect(await code { try await pool.query("SELECT 1") } == .poolExhausted)
                }
                try await stopping(connection) {
                    await WorkDeadline.$current.withValue(WorkDeadline(Self.limit)) {
                        await expectTimeout { try await connection.withTransaction { _ in } }
                    }
                }
            }
            let start = ContinuousClock.now
            await WorkDeadline.$current.withValue(WorkDeadline(.zero)) {
                #expect(await code { try await pool.withTransaction(retrying: .idempotent) { _ in } } == .poolExhausted)
            }
            #expect(ContinuousClock.now - start < .seconds(20))
            // Later requests are not affected.
            #expect(try await pool.query("SELECT 1").count == 1)
        }
    }

    @Test("a cancelled task leaves a server that does not obey its cancel request")
    func cancelled() async throws {
        try await withDatabaseURL(migrated: false) { url in
            let connection = try await PostgresConnection.connect(PostgresConfiguration(url: url))
            try await stopping(connection) {
                let start = ContinuousClock.now
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await #expect(throws: CancellationError.self) { try await connection.query("SELECT 1") } }
                    group.addTask { try? await Task.sleep(for: .milliseconds(50)) }
                    await group.next()
                    group.cancelAll()
                }
                #expect(ContinuousClock.now - start < .seconds(20))
            }
        }
    }

    @Test("of several hosts the one that hangs is passed over, and from then on tried last")
    func hangingHost() async throws {
        try await withDatabaseURL(migrated: false) { url in
            let hung = try SilentListener()
            let parts = try #require(URLComponents(string: url))
            let host = try #require(parts.queryItems?.first { $0.name == "host" }?.value)
            let port = try #require(parts.queryItems?.first { $0.name == "port" }?.value)
            let both =
                "host=127.0.0.1,\(host) port=\(hung.port),\(port) user=\(parts.user ?? "") dbname=\(parts.path.dropFirst()) "
                + "target_session_attrs=read-write"
            let configuration = PostgresConfiguration(url: both, connectTimeoutSeconds: 3)
            let start = ContinuousClock.now
            _ = try await PostgresConnection.connect(configuration)
            let first = ContinuousClock.now
            #expect(first - start > .seconds(2) && first - start < .seconds(60), "\(first - start)")
            let order = configuration.hostOrder.keywords(for: both).first { $0.0 == "host" }
            #expect(order?.1 == "\(host),127.0.0.1")
        }
    }
}

/// Accepts connections, as the kernel does for a stopped server, and never says anything.
private final class SilentListener {
    private let socket: FileHandle
    let port: Int

    init() throws {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        socket = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(descriptor, $0, size)
                _ = getsockname(descriptor, $0, &size)
            }
        }
        _ = listen(descriptor, 8)
        port = Int(UInt16(bigEndian: address.sin_port))
    }
}
