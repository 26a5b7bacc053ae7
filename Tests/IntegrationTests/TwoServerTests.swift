import TestDatabase
import Testing

extension WholeService {
    @Suite("Two servers, one database")
    struct TwoServerTests {
        @Test("1,000 attempts posted four times by eight connections, shuffled, a third re-stamped: 1,000 rows, counted once")
        func once() async throws {
            try await withDatabaseURL { database in
                async let first = ServerProcess.start(database: database)
                async let second = ServerProcess.start(database: database)
                let servers = try await [first, second]
                for server in servers { try await server.waitUntilReady() }
                let attempts = DoubledAttempts()
                let accepted = try await attempts.post(to: servers.map(\.api))
                #expect(accepted == 1_000, "each is accepted once, whoever asks")
                try await withPool(database) { try await attempts.expectOnce(in: $0) }
                for server in servers { #expect(try await server.terminate().code == 0) }
            }
        }

        @Test("two servers that start at once on an empty database, both with --migrate, both come up")
        func empty() async throws {
            try await withDatabaseURL(migrated: false) { database in
                async let first = ServerProcess.start(database: database, arguments: ["--migrate"])
                async let second = ServerProcess.start(database: database, arguments: ["--migrate"])
                let servers = try await [first, second]
                for server in servers { try await server.waitUntilReady() }
                for server in servers { #expect(try await server.terminate().code == 0) }
            }
        }
    }
}
