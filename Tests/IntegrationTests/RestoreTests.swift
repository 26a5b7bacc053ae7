import Foundation
import Postgres
import Testing

extension WholeService {
    /// Backup and restore, by the commands of docs/operations.md.
    @Suite("Restored from a backup")
    struct RestoreTests {
        /// The fenced blocks of the section, in order: how to back up, how to restore.
        private static func blocks() throws -> [String] {
            let text = try ReadmeTests.text("docs/operations.md")
            let from = try #require(text.firstRange(of: "\n## Back up and restore\n"))
            let to = try #require(text[from.upperBound...].firstRange(of: "\n## "))
            let parts = text[from.upperBound..<to.lowerBound].components(separatedBy: "\n```\n")
            return parts.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }

        private func run(_ block: String, on database: String, superuser: String, in directory: String) async throws {
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            let programs = URL(fileURLWithPath: ServerProcess.binary).deletingLastPathComponent().path
            let environment = [
                "PATH": "\(programs):\(path)", "DATABASE": database, "SUPERUSER": superuser,
                "PUSHWATCH_MIGRATIONS_DIRECTORY": ProjectDirectory.migrations,
            ]
            let done = try await Shell.run(
                "/usr/bin/timeout",
                ["300", "/bin/bash", "-euo", "pipefail", "-c", block],
                in: directory,
                environment: environment
            )
            #expect(done.code == 0, "\(block)\n\(done.output)")
        }

        @Test(
            "a backup taken under load holds the roles and what was acknowledged before; the service goes on, and takes in what is sent again"
        )
        func restored() async throws {
            let blocks = try Self.blocks()
            try #require(blocks.count == 2)
            try await withTestDirectory { directory in
                for name in ["old", "new"] {
                    try FileManager.default.createDirectory(atPath: "\(directory)/\(name)", withIntermediateDirectories: true)
                }
                let old = ScratchCluster(in: directory + "/old")
                defer { old.crash() }
                try await old.start()
                let oldOwner = try await old.makeOwner()
                let first = try await ServerProcess.start(database: oldOwner, arguments: ["--migrate"])
                try await first.waitUntilReady()
                try await withPool(oldOwner) { pool in
                    _ = try await pool.execute("CREATE ROLE pushwatch_one LOGIN IN ROLE pushwatch_ingest")
                }
                let load = PostingLoad(url: first.api.url)
                let acknowledged = try await load.run(posters: 4) {
                    try await load.progress(2_000)
                    let acknowledged = load.attempts
                    try await run(blocks[0], on: oldOwner, superuser: old.url, in: directory)
                    try await load.progress(200)
                    return acknowledged
                }
                #expect(try await first.terminate().code == 0)
                old.crash()

                let new = ScratchCluster(in: directory + "/new")
                defer { new.crash() }
                try await new.start()
                let newOwner = try await new.makeOwner()
                try await run(blocks[1], on: newOwner, superuser: new.url, in: directory)
                try await withPool(new.url) { pool in
                    let ledger = Ledger(session: pool)
                    #expect(try await ledger.found(acknowledged) == acknowledged.count)
                    try await ledger.expectConsistent()
                    let analyst = try await pool.query(
                        "SELECT has_column_privilege('pushwatch_analyst', 'attemptRollups', 'minute', 'SELECT')"
                    )
                    let ingest = try await pool.query("SELECT has_table_privilege('pushwatch_ingest', 'pushSends', 'INSERT')")
                    let (analystReads, ingestWrites) = (try analyst[0].decode(Bool.self), try ingest[0].decode(Bool.self))
                    #expect(analystReads && ingestWrites)
                    let logins = try await pool.query(
                        "SELECT rolname::text, rolconnlimit FROM pg_roles WHERE rolname LIKE 'pushwatch_%' AND rolcanlogin ORDER BY rolname"
                    ).map { try $0.decode((String, Int32).self) }
                    #expect(logins.map(\.0) == ["pushwatch_analyst", "pushwatch_one"] && logins.map(\.1) == [8, -1], "\(logins)")
                }

                // Senders send again what they have no answer for, and more.
                let second = try await ServerProcess.start(database: newOwner)
                try await second.waitUntilReady()
                let again = PostingLoad(url: second.api.url)
                try await again.run(posters: 4) { try await again.progress(3_000) }
                try await withPool(new.url) { pool in
                    try await FaultReport(fault: "restored from a backup", times: 1, load: again).expectNothingLost(on: pool)
                }
                #expect(try await second.terminate().code == 0)
            }
        }
    }
}
