import Foundation
import LocalPostgres
import Logging
import Postgres
import TestDatabase
import Testing

@Suite("LocalPostgres")
struct LocalPostgresTests {
    @Test("a second start finds the data of the first, in a path with spaces")
    func restart() async throws {
        try await withScratch("with spaces, and ünïcode '\"") { directory in
            try await withServer(directory) { server in
                try await run("CREATE TABLE kept AS SELECT 42 AS answer", server.socketURL)
            }
            try await withServer(directory) { server in
                let rows = try await run("SELECT answer FROM kept", server.tcpURL)
                #expect(try rows[0].decode(Int.self) == 42)
                #expect(try await run("SHOW fsync", server.socketURL)[0].decode(String.self) == "off")
            }
        }
    }

    @Test("a connection by TCP needs the password")
    func password() async throws {
        try await withScratch("tcp") { directory in
            try await withServer(directory) { server in
                let wrong = "postgresql://pushwatch:wrong@127.0.0.1:\(server.port)/pushwatch"
                let error = await #expect(throws: PostgresError.self) { try await run("SELECT 1", wrong) }
                #expect(error?.message.contains("password authentication failed") == true, "\(error as Any)")
            }
        }
    }

    @Test("a directory with somebody else's files is refused and left as it is")
    func foreignDirectory() async throws {
        try await withScratch("foreign") { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try "precious".write(toFile: directory + "/PG_VERSION", atomically: true, encoding: .utf8)
            let error = await #expect(throws: LocalPostgresError.self) { try await withServer(directory) { _ in } }
            #expect(error?.kind == .notOwned)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["PG_VERSION"])
        }
    }

    @Test("the same directory cannot be run twice at once")
    func lock() async throws {
        try await withScratch("twice") { directory in
            try await withServer(directory) { _ in
                let error = await #expect(throws: LocalPostgresError.self) { try await withServer(directory) { _ in } }
                #expect(error?.kind == .inUse)
            }
        }
    }

    @Test("after kill -9 of the server the next start recovers what was committed")
    func killedServer() async throws {
        try await withScratch("killed") { directory in
            try await withServer(directory, durable: true) { server in
                try await run("CREATE TABLE kept AS SELECT 7 AS answer", server.socketURL)
                let pid = try String(contentsOfFile: server.directory + "/data/postmaster.pid", encoding: .utf8)
                kill(try #require(Int32(pid.split(separator: "\n")[0])), SIGKILL)
            }
            try await withServer(directory) { server in
                let rows = try await run("SELECT answer FROM kept", server.socketURL)
                #expect(try rows[0].decode(Int.self) == 7)
            }
        }
    }

    @Test("a stale postmaster.pid whose number went to another process is cleared away")
    func stalePidFile() async throws {
        try await withScratch("stale") { directory in
            try await withServer(directory) { _ in }
            let text = "\(getpid())\n\(directory)/data\n1\n5432\n\n127.0.0.1\n"
            try text.write(toFile: directory + "/data/postmaster.pid", atomically: true, encoding: .utf8)
            try await withServer(directory) { server in
                let rows = try await run("SELECT 1", server.socketURL)
                #expect(rows.count == 1)
            }
        }
    }

    @Test("a server left running by a process that was killed is taken over, with its sessions")
    func takeOver() async throws {
        try await withScratch("left") { directory in
            let configuration = LocalPostgresConfiguration(directory: directory, durable: false, maxConnections: 20)
            var abandoned: LocalPostgres? = try await LocalPostgres.start(configuration, logger: .silent)
            let connection = try await PostgresConnection.connect(PostgresConfiguration(url: try #require(abandoned).socketURL))
            // Lets go of the lock without stopping the server, as a kill does.
            abandoned = nil
            try await withServer(directory) { server in
                let kept = try await connection.query("SELECT 1")
                let new = try await run("SELECT 1", server.tcpURL)
                #expect(kept.count == 1 && new.count == 1)
            }
            let gone = await code { try await connection.query("SELECT 1") }
            #expect(gone != nil)
        }
    }

    @Test("one left running with other settings is restarted with ours")
    func takeOverWithOtherSettings() async throws {
        try await withScratch("changed") { directory in
            var configuration = LocalPostgresConfiguration(directory: directory, durable: false, maxConnections: 20)
            var abandoned: LocalPostgres? = try await LocalPostgres.start(configuration, logger: .silent)
            #expect(abandoned != nil)
            abandoned = nil
            configuration.maxConnections = 30
            let server = try await LocalPostgres.start(configuration, logger: .silent)
            let limit = try await run("SHOW max_connections", server.socketURL)[0].decode(String.self)
            #expect(limit == "30")
            await server.stop()
        }
    }

    @Test("an initialisation that was interrupted is done again")
    func interruptedInitialisation() async throws {
        try await withScratch("interrupted") { directory in
            try await withServer(directory) { _ in }
            try FileManager.default.moveItem(atPath: directory + "/data", toPath: directory + "/data.new")
            try FileManager.default.removeItem(atPath: directory + "/data.new/base")
            try await withServer(directory) { server in
                let rows = try await run("SELECT 1", server.socketURL)
                #expect(rows.count == 1)
            }
        }
    }

    @discardableResult
    private func run(_ query: Query, _ url: String) async throws -> [Row] {
        try await PostgresConnection.connect(PostgresConfiguration(url: url)).query(query)
    }

    private func withServer(_ directory: String, durable: Bool = false, _ body: (LocalPostgres) async throws -> Void) async throws {
        let configuration = LocalPostgresConfiguration(directory: directory, durable: durable, maxConnections: 20)
        let server = try await LocalPostgres.start(configuration, logger: .silent)
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }
}

/// A path under the temporary directory that does not exist yet, removed afterwards.
func withScratch<T>(_ name: String, _ body: (String) async throws -> T) async throws -> T {
    let parent = NSTemporaryDirectory() + "pushwatch-scratch-\(UInt64.random(in: 0...UInt64.max))"
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: parent) }
    return try await body(parent + "/" + name)
}
