import Foundation
import Postgres
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    /// Two programs on one database: this one, and a newer one that has one migration more.
    @Suite("Upgrade")
    struct UpgradeTests {
        private func migrate(_ database: String, adding name: String, _ sql: String, in directory: String) async throws {
            try sql.write(toFile: directory + "/" + name, atomically: true, encoding: .utf8)
            let migrator = Migrator(configuration: PostgresConfiguration(url: database), directory: directory, logger: .silent)
            #expect(try await migrator.migrate().count == 1)
        }

        private func post(_ id: String, to url: String) async throws {
            let api = API(url: url, bearer: RunningServer.bootstrapKey)
            try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
            #expect(try await api.post("/attempts", text: SampleAttempt(id: id, at: .now()).text).status == 201)
        }

        @Test(
            "this program works on through a newer one's compatible migration, and starts again; an incompatible one is refused, with why"
        )
        func mixed() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { scratch in
                    let directory = scratch + "/newer"
                    try FileManager.default.copyItem(atPath: ProjectDirectory.migrations, toPath: directory)
                    let own = try FileManager.default.contentsOfDirectory(atPath: directory).count { $0.hasPrefix("0") }
                    let (last, next, later) = ("000\(own)", "000\(own + 1)", "000\(own + 2)")
                    let configuration = ServerConfiguration.bare(database)
                    try await withServer(configuration) { url in
                        try await post("before", to: url)
                        let compatible = """
                            -- Oldest program: \(last)
                            ALTER TABLE notificationDeliveryAttempts ADD COLUMN campaign text;
                            CREATE TABLE campaigns (name text PRIMARY KEY);
                            """
                        try await migrate(database, adding: "\(next)_create_campaigns.sql", compatible, in: directory)
                        try await post("during", to: url)
                        try await withServer(configuration) { try await post("second", to: $0) }
                        try await post("after", to: url)
                    }
                    try await migrate(database, adding: "\(later)_drop_campaigns.sql", "DROP TABLE campaigns;", in: directory)
                    let error = try await #require(throws: MigrationError.self) {
                        try await withServer(configuration) { url in
                            try await eventually("the server ends") { (try? await API(url: url, bearer: nil).get("/health")) == nil }
                        }
                    }
                    #expect(
                        error.message == "the database has \(later)_drop_campaigns, which needs a program that knows migration \(later); "
                            + "this program knows migrations up to \(last): use a newer program"
                    )
                }
            }
        }
    }
}
