import HTTPServer
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Audit

@Suite("The audit log")
struct AuditLogTests {
    private let now = Timestamp(seconds: 1_800_000_000)

    @Test("an entry comes back as it was recorded: who, how, with which key, what was before and is after")
    func roundTrip() async throws {
        try await withDatabase { pool in
            let key = AuditRecorder(.key(id: "k1", name: "robot", scopes: []), at: now)
            try await key.note(.addThrottle, "fcm", "slow", before: ["perMinute": 600], after: ["perMinute": 60], on: pool)
            let command = AuditRecorder(AuditActor(command: "eva", user: "root"), at: now + .seconds(1))
            try await command.note(.closeCircuit, "circuit 1", on: pool)
            let entries = try await AuditLog(pool).latest(10)
            #expect(entries.map(\.actor) == ["eva (as root)", "robot"])
            #expect(entries.map(\.callerKind) == [.command, .key] && entries.map(\.keyId) == [nil, "k1"])
            #expect(entries[0].before == nil && entries[0].after == nil)
            let changes = AuditChange.between(entries[1].before, entries[1].after)
            #expect(changes.map { [$0.field, $0.before, $0.after] } == [["perMinute", "600", "60"]])
            #expect(try await AuditLog(pool).latest(1).map(\.action) == [.closeCircuit])
        }
    }

    @Test(
        "entries are only ever added: the tables' owner, too, can neither change nor delete them",
        arguments: [
            "UPDATE auditEntries SET actor = 'nobody'", "UPDATE auditEntries SET actor = 'x' WHERE false", "DELETE FROM auditEntries",
            "TRUNCATE auditEntries", "TRUNCATE auditEntries CASCADE",
        ]
    )
    func appendOnly(statement: String) async throws {
        try await withDatabase { pool in
            try await AuditRecorder(.user(userId: "u1"), at: now).note(.eraseUser, "u1", on: pool)
            let error = await #expect(throws: PostgresError.self) { try await pool.execute("\(raw: statement)") }
            #expect(error?.message.contains("append-only") == true)
            #expect(try await AuditLog(pool).latest(10).map(\.actor) == ["u1"])
        }
    }
}
