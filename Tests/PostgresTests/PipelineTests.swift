import Foundation
import Synchronization
import TestDatabase
import Testing

@testable import Postgres

@Suite("Statements sent together")
struct PipelineTests {
    private func withItems(_ body: (PostgresConnection) async throws -> Void) async throws {
        try await withDatabase { pool in
            try await pool.withConnection { connection in
                try await connection.executeScript("CREATE TABLE items (id integer PRIMARY KEY, name text)")
                try await body(connection)
            }
        }
    }

    private func count(_ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT count(*) FROM items")[0].decode(Int.self)
    }

    @Test("outside a transaction they are one: all of them, or after an error none, and the connection goes on")
    func allOrNone() async throws {
        try await withItems { connection in
            try await connection.perform { connection in
                try connection.pipeline((1...20).map { "INSERT INTO items VALUES (\($0), \("n")) " })
            }
            #expect(try await count(connection) == 20)
            let error = await #expect(throws: PostgresError.self) {
                try await connection.perform { connection in
                    try connection.pipeline([
                        "INSERT INTO items VALUES (\(21), \("n"))", "INSERT INTO items VALUES (\(7), \("n"))",
                        "INSERT INTO items VALUES (\(22), \("n"))",
                    ])
                }
            }
            #expect(error?.code == .uniqueViolation)
            #expect(try await count(connection) == 20)
            try await connection.perform { #expect($0.isIdle && $0.isHealthy) }
            try await connection.perform { try $0.pipeline(["INSERT INTO items VALUES (\(23), \("n"))"]) }
            #expect(try await count(connection) == 21)
        }
    }

    @Test("inside a transaction they belong to it")
    func inside() async throws {
        try await withItems { connection in
            try await connection.perform { connection in
                try connection.pipeline(["BEGIN", "INSERT INTO items VALUES (\(1), \("n"))"])
                #expect(!connection.isIdle)
                try connection.executeScript("ROLLBACK")
            }
            #expect(try await count(connection) == 0)
        }
    }

    @Test("a statement for later goes with BEGIN and the next call, whatever that is")
    func later() async throws {
        try await withItems { connection in
            try await connection.perform { connection in
                try connection.transaction { connection in
                    try connection.executeLater("INSERT INTO items VALUES (\(1), \("n"))")
                    #expect(connection.isIdle && connection.isInTransaction)
                    #expect(try connection.query("SELECT count(*) FROM items")[0].decode(Int.self) == 1)
                    try connection.executeLater("DELETE FROM items")
                    #expect(try [UInt8]("1\tn\n".utf8).withUnsafeBytes { try connection.copyIn("COPY items FROM STDIN", data: $0) } == 1)
                    try connection.executeLater("DELETE FROM items")
                    try connection.executeScript("INSERT INTO items VALUES (1, 'n')")
                    try connection.executeLater("INSERT INTO items VALUES (\(2), \("n"))")
                }
                #expect(connection.isIdle && !connection.isInTransaction)
                try connection.transaction { try $0.executeLater("INSERT INTO items VALUES (\(3), \("n"))") }
                try connection.transaction { _ in }
                try connection.executeLater("INSERT INTO items VALUES (\(4), \("outside a transaction"))")
                #expect(connection.isIdle && !connection.isInTransaction)
            }
            #expect(try await count(connection) == 4)
        }
    }

    @Test("what a statement for later fails with is thrown by the next call, and nothing is left of the transaction")
    func laterFails() async throws {
        try await withItems { connection in
            try await connection.perform { connection in
                try connection.execute("INSERT INTO items VALUES (\(1), \("n"))")
                let known: Query = "INSERT INTO items VALUES (\(1), \("n"))"
                let atNextCall = #expect(throws: PostgresError.self) {
                    try connection.transaction { connection in
                        try connection.executeLater("INSERT INTO items VALUES (\(2), \("n"))")
                        try connection.executeLater(known)
                        _ = try connection.query("SELECT 1")
                        Issue.record("the call goes on")
                    }
                }
                #expect(atNextCall?.code == .uniqueViolation && connection.isIdle && !connection.isInTransaction)
                let atCommit = #expect(throws: PostgresError.self) {
                    try connection.transaction { connection in
                        _ = try connection.query("SELECT 1")
                        try connection.executeLater(known)
                    }
                }
                #expect(atCommit?.code == .uniqueViolation && connection.isIdle)
                struct Stop: Error {}
                #expect(throws: Stop.self) {
                    try connection.transaction { connection in
                        try connection.executeLater(known)
                        throw Stop()
                    }
                }
                #expect(connection.isIdle && !connection.isInTransaction)
            }
            #expect(try await count(connection) == 1)
        }
    }

    @Test("a session that was ended while it was idle is found before the transaction, which is run on another")
    func lostBefore() async throws {
        try await withDatabase { pool in
            try await pool.execute("CREATE TABLE items (id integer PRIMARY KEY, name text)")
            let ended = Mutex(false)
            try await pool.performTransaction { connection in
                try connection.executeLater("INSERT INTO items VALUES (\(1), \("n"))")
                // As if it had happened before: the first message of this transaction, with BEGIN, finds a session that is gone.
                if ended.withLock({ ended in
                    defer { ended = true }; return !ended
                }) {
                    shutdown(connection.socket, Int32(SHUT_RDWR))
                }
                _ = try connection.query("SELECT 1")
            }
            #expect(try await pool.query("SELECT count(*) FROM items")[0].decode(Int.self) == 1)
        }
    }

    @Test("a statement whose table has changed fails once and is prepared anew")
    func changedTable() async throws {
        try await withItems { connection in
            let select: Query = "SELECT * FROM items WHERE id = \(1)"
            try await connection.perform { try $0.pipeline([select]) }
            try await connection.executeScript("ALTER TABLE items ADD COLUMN size integer")
            let error = await #expect(throws: PostgresError.self) { try await connection.perform { try $0.pipeline([select]) } }
            #expect(error?.code == .cachedPlanChanged)
            try await connection.perform { try $0.pipeline([select]) }
        }
    }

    @Test("a session that is ended meanwhile is a lost connection, not a hang")
    func lost() async throws {
        try await withItems { connection in
            let error = await #expect(throws: PostgresError.self) {
                try await connection.perform { try $0.pipeline(["SELECT pg_terminate_backend(pg_backend_pid())", "SELECT 1"]) }
            }
            #expect(error?.isConnectionLoss == true)
            try await connection.perform { #expect(!$0.isHealthy) }
        }
    }
}
