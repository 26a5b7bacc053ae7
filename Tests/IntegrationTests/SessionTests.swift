import Foundation
import HTTPServer
import Postgres
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("People's sessions")
    struct SessionTests {
        private static let form = "application/x-www-form-urlencoded"

        /// Signs in by the form, and returns the cookie.
        private func signIn(_ api: API, name: String, key: String = RunningServer.bootstrapKey) async throws -> String {
            let answer = try await api.call(
                "POST",
                "/sign-in",
                type: Self.form,
                headers: [("Sec-Fetch-Site", "same-origin")],
                body: Array("key=\(key)&name=\(name)".utf8)
            )
            #expect(answer.status == 303)
            let header = try #require(answer[header: "set-cookie"])
            return String(header.prefix { $0 != ";" })
        }

        private func sessions(_ arguments: [String], _ database: String) async throws -> Shell.Done {
            try await Shell.run(ServerProcess.binary, ["sessions"] + arguments, environment: ["PUSHWATCH_DATABASE_URL": database])
        }

        @Test(
            "a cookie that is kept after signing out opens nothing, at no instance; what was done is in the audit under the person's name"
        )
        func signOut() async throws {
            try await withDatabaseURL { database in
                try await withServer(ServerConfiguration.bare(database)) { url in
                    let api = API(url: url, bearer: nil)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    let cookie = try await signIn(api, name: "Ana+N.")
                    func code(_ method: String, _ path: String, _ headers: [(String, String)], _ body: String = "") async throws -> Int {
                        let answer = try await api.call(
                            method,
                            path,
                            type: Self.form,
                            headers: [("Cookie", cookie)] + headers,
                            body: Array(body.utf8)
                        )
                        return answer.status
                    }
                    #expect(try await code("GET", "/alerts", []) == 200)
                    let throttle = "provider=fcm&perMinute=60&minutes=30&reason=test"
                    #expect(try await code("POST", "/oncall/throttle", [("Sec-Fetch-Site", "same-origin")], throttle) == 303)
                    #expect(try await code("POST", "/sign-out", [("Origin", url)]) == 303)
                    #expect(try await code("GET", "/alerts", []) == 401)
                    try await withPool(database) { pool in
                        let rows = try await pool.query("SELECT actor, action FROM auditEntries ORDER BY entryId")
                        let entries = try rows.map { row in
                            let (actor, action) = try row.decode((String, String).self)
                            return "\(actor): \(action)"
                        }
                        #expect(
                            entries == ["sessions.open", "throttles.add", "sessions.end"].map { "Ana N. (bootstrap): \($0)" }
                        )
                    }
                }
            }
        }

        @Test("who is signed in is read on the connections of the pages: those that store what callers send are all left to them")
        func connections() async throws {
            try await withDatabaseURL { database in
                try await withServer(ServerConfiguration.bare(database)) { url in
                    let api = API(url: url, bearer: nil)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    let cookie = try await signIn(api, name: "ana")
                    try await withPool(database) { pool in
                        try await pool.withTransaction { blocker in
                            try await blocker.execute("LOCK TABLE sessions")
                            async let page = api.call("GET", "/alerts", headers: [("Cookie", cookie)]).status
                            var waiting: [String] = []
                            try await eventually("the session is read") {
                                waiting = try await pool.query(
                                    """
                                    SELECT application_name FROM pg_stat_activity
                                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                                    """
                                ).map { try $0.decode(String.self) }
                                return !waiting.isEmpty
                            }
                            #expect(waiting == ["pushwatch readers"])
                            try await blocker.execute("COMMIT")
                            #expect(try await page == 200)
                        }
                    }
                }
            }
        }

        @Test("the JSON interface takes a session's changes from its own site only, whether or not the browser says more than the origin")
        func origins() async throws {
            try await withDatabaseURL { database in
                try await withServer(ServerConfiguration.bare(database)) { url in
                    let api = API(url: url, bearer: nil)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    let cookie = try await signIn(api, name: "ana")
                    let throttle = Array(#"{"provider":"fcm","perMinute":60,"reason":"test"}"#.utf8)
                    func put(_ headers: [(String, String)]) async throws -> Int {
                        try await api.call(
                            "PUT",
                            "/sends/throttle",
                            type: "application/json",
                            headers: [("Cookie", cookie)] + headers,
                            body: throttle
                        ).status
                    }
                    for origin in ["https://evil.example", "null"] { #expect(try await put([("Origin", origin)]) == 403) }
                    #expect(try await put([]) == 403)
                    #expect(try await put([("Origin", url)]) < 500)
                    #expect(try await put([("Origin", url)]) != 403)
                }
            }
        }

        @Test("an operator lists sessions and ends one, those of a key, or all; they are over at once; another bootstrap key ends its own")
        func operators() async throws {
            try await withDatabaseURL { database in
                try await withServer(ServerConfiguration.bare(database)) { url in
                    let api = API(url: url, bearer: nil)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    func isOpen(_ cookie: String) async throws -> Bool {
                        try await api.call("GET", "/alerts", headers: [("Cookie", cookie)]).status == 200
                    }
                    let (ana, bo, cy) = (
                        try await signIn(api, name: "ana"), try await signIn(api, name: "bo"), try await signIn(api, name: "cy")
                    )
                    let listed = try await sessions(["list"], database)
                    #expect(listed.code == 0 && ["ana", "bo", "cy"].allSatisfy(listed.output.contains))
                    let id = try #require(listed.output.firstMatch(of: /(\S+) +ana +bootstrap/).map { String($0.1) })
                    #expect(try await sessions(["end", id], database).code == 0)
                    #expect(try await sessions(["end", id], database).code == 1, "it has ended")
                    #expect(try await !isOpen(ana))
                    #expect(try await isOpen(bo))
                    #expect(try await sessions(["end"], database).code == 2)
                    #expect(try await sessions(["end", "--key-id", "bootstrap"], database).output.contains("2 sessions have ended"))
                    #expect(try await !isOpen(bo))
                    #expect(try await !isOpen(cy))
                    #expect(try await sessions(["list"], database).output.contains("Nobody is signed in"))
                    #expect(try await sessions(["list", "--all"], database).output.contains("on the command line"))
                }
            }
        }
    }
}
