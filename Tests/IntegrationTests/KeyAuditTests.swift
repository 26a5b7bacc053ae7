import Access
import Audit
import HTTPServer
import Postgres
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Keys made and revoked")
    struct KeyAuditTests {
        private func keys(_ arguments: [String], _ database: String) async throws -> Shell.Done {
            try await Shell.run(ServerProcess.binary, ["keys"] + arguments, environment: ["PUSHWATCH_DATABASE_URL": database])
        }

        @Test("a key is rotated: both work, the list shows which replaces which, and the audit has both keys before and after")
        func rotated() async throws {
            try await withDatabaseURL { database in
                try await withServer(ServerConfiguration.bare(database)) { url in
                    let owner = API(url: url, bearer: RunningServer.bootstrapKey)
                    try await eventually("the server is ready") { try await owner.get("/health/ready").status == 200 }
                    func text(_ done: Shell.Done) throws -> String {
                        let line = done.output.split(whereSeparator: \.isNewline).first { $0.hasPrefix("pw_") }
                        return String(try #require(line, "\(done.output)"))
                    }
                    func id(_ text: String) -> String { String(text.split(separator: "_")[1]) }
                    let old = try text(
                        try await keys(
                            [
                                "create", "--name", "scores", "--scope", "sends:read", "--app", "com.b", "--app", "com.a", "--expires",
                                "90d",
                            ],
                            database
                        )
                    )
                    #expect(try await owner.with(bearer: old).get("/sends/backlog").status == 200)
                    let done = try await keys(["rotate", id(old), "--overlap", "2d", "--author", "eva"], database)
                    let new = try text(done)
                    for key in [old, new] { #expect(try await owner.with(bearer: key).get("/sends/backlog").status == 200) }
                    let list = try await keys(["list"], database).output
                    #expect(list.contains("replaces \(id(old))") && list.contains("replaced by \(id(new))"), "\(list)")
                    #expect(list.contains("com.a,com.b") && list.contains("just now"), "\(list)")
                    let stored = try await withPool(database) { try await APIKeyStore($0).list() }
                    let (first, second) = (try #require(stored.last), try #require(stored.first))
                    #expect(second.apps == .only(["com.a", "com.b"]) && second.replaces == first.id)
                    let lives: [Duration?] = [
                        first.expiresAt.map { $0 - second.createdAt }, second.expiresAt.map { $0 - second.createdAt },
                    ]
                    #expect(lives == [.seconds(2 * 86_400), .seconds(90 * 86_400)])
                    let entries = try await withPool(database) { try await AuditLog($0).latest(10) }
                    #expect(entries.map(\.action) == [.createKey, .rotateKey, .createKey])
                    #expect(entries[1].actor.hasPrefix("eva") && entries[1].callerKind == .command)
                    let changes = AuditChange.between(entries[1].before, entries[1].after)
                    #expect(changes.map(\.field) == ["expiresAt", "replacedBy"] && changes[1].after == second.id)
                    for entry in entries {
                        for key in [old, new] { #expect(entry.after?.json.contains(key.suffix(43)) == false, "its secret is nowhere") }
                    }
                    #expect(try await keys(["rotate", id(old)], database).code == 2, "it was replaced already")
                    #expect(
                        try await keys(["create", "--name", "x", "--scope", "sends:read", "--expires", "2020-01-01"], database).code == 2
                    )
                }
            }
        }

        @Test("a key is neither made nor replaced nor revoked while the audit takes no entry of it")
        func refused() async throws {
            try await withDatabaseURL { database in
                #expect(try await keys(["create", "--name", "old", "--scope", "sends:read"], database).code == 0)
                let key = try #require(try await withPool(database) { try await APIKeyStore($0).list() }.first)
                _ = try await withPool(database) { pool in
                    try await pool.execute("ALTER TABLE auditEntries ADD CONSTRAINT refused CHECK (false) NOT VALID")
                }
                for command in [["create", "--name", "new", "--scope", "sends:read"], ["rotate", key.id], ["revoke", key.id]] {
                    #expect(try await keys(command, database).code != 0, "\(command)")
                    #expect(try await withPool(database) { try await APIKeyStore($0).list() } == [key], "\(command)")
                }
            }
        }

        @Test("a key that is made or revoked is in the audit, by whom and what it may do; its text is not; a refusal leaves nothing")
        func audited() async throws {
            try await withDatabaseURL { database in
                try await withServer(ServerConfiguration.bare(database)) { url in
                    let owner = API(url: url, bearer: RunningServer.bootstrapKey)
                    try await eventually("the server is ready") { try await owner.get("/health/ready").status == 200 }
                    let made = try await keys(["create", "--name", "night", "--scope", "alerts:write", "--scope", "alerts:read"], database)
                    try #require(made.code == 0, "\(made.output)")
                    let text = try #require(made.output.split(whereSeparator: \.isNewline).first { $0.hasPrefix("pw_") }.map(String.init))
                    let id = try #require(made.output.firstMatch(of: /keys revoke (\S+?)`/).map { String($0.1) })
                    let page = try await owner.with(bearer: text).get("/oncall/audit")
                    #expect(page.status == 200, "the key holds")
                    #expect(page.text.contains("keys.create night (\(id))") && page.text.contains("alerts:read, alerts:write"))
                    #expect(page.text.contains("on the command line"))
                    #expect(!page.text.contains(text.suffix(43)), "its secret is nowhere")
                    #expect(try await keys(["create", "--name", "x", "--scope", "everything"], database).code != 0)
                    #expect(try await keys(["revoke", id], database).code == 0)
                    #expect(try await keys(["revoke", id], database).code == 1, "it is revoked already")
                    let entries = try await withPool(database) { try await AuditLog($0).latest(10) }
                    #expect(entries.map(\.action) == [.revokeKey, .createKey])
                    #expect(entries.map(\.subject) == [id, "night (\(id))"])
                }
            }
        }
    }
}
