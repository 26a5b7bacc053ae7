import Foundation
import Postgres
import ProviderSimulator
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Synthetic names do not hide apps that are real")
    struct SyntheticAppsTests {
        @Test(
            "after a restart, and after more synthetic names than are counted apart, apps with a credential and the usual ones are counted"
        )
        func kept() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    let google = try SimulatorCredentials.generate().google
                    try google.keyFile(tokenURL: "https://127.0.0.1:9/token")
                        .write(toFile: directory + "/account.json", atomically: true, encoding: .utf8)
                    try "fcm: [{serviceAccountFile: account.json, apps: [com.example.configured]}]"
                        .write(toFile: directory + "/credentials.yml", atomically: true, encoding: .utf8)
                    let settings = ["CREDENTIALS_FILE": directory + "/credentials.yml", "ATTEMPTS_LABELS_APPS": "5"]
                    let first = try await ServerProcess.start(database: database, settings: settings, arguments: ["--migrate"])
                    try await first.waitUntilReady()
                    #expect(try await post(["com.example.usual"], "first", to: first) == 200)
                    _ = try await first.terminate()
                    let second = try await ServerProcess.start(database: database, settings: settings)
                    try await second.waitUntilReady()
                    #expect(try await post((0..<30).map { "synthetic.\($0)" }, "second", to: second) == 200)
                    // The usual apps are read beside the first requests.
                    var round = 0
                    try await eventually("both are counted apart") {
                        round += 1
                        let apps = ["com.example.usual", "com.example.configured", "com.example.new"]
                        #expect(try await post(apps, "third-\(round)", to: second) == 200)
                        return try await counts(database)["com.example.usual", default: 0] >= 2
                    }
                    let found = try await counts(database)
                    #expect(found["com.example.configured"] == Int64(round), "\(found)")
                    #expect(found["com.example.new"] == nil, "\(found)")
                    #expect(found.count == 8 && found["other", default: 0] >= 25 + Int64(round), "\(found)")
                }
            }
        }

        private func post(_ apps: [String], _ id: String, to server: ServerProcess) async throws -> Int {
            let attempts = apps.enumerated().map { number, app in
                var attempt = SampleAttempt(id: "\(id)-\(number)", at: .now()).json
                attempt["app"] = app
                return attempt
            }
            return try await server.api.post("/attempts", attempts).status
        }

        private func counts(_ database: String) async throws -> [String: Int64] {
            try await withPool(database) { pool in
                let rows = try await pool.query("SELECT app, sum(attempts)::bigint FROM attemptRollups GROUP BY app")
                return Dictionary(uniqueKeysWithValues: try rows.map { try $0.decode((String, Int64).self) })
            }
        }
    }
}
