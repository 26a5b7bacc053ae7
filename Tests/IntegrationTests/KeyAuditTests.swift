import Access
import HTTPServer
import Server
import TestDatabase
import Testing

extension WholeService {
    @Suite("Keys made and revoked")
    struct KeyAuditTests {
        private func keys(_ arguments: [String], _ database: String) async throws -> Shell.Done {
            try await Shell.run(ServerProcess.binary, ["keys"] + arguments, environment: ["PUSHWATCH_DATABASE_URL": database])
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
