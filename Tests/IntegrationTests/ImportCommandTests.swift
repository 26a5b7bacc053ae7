import Foundation
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("pushwatch attempts import")
    struct ImportCommandTests {
        private func command(_ path: String, _ database: String, settings: [String: String] = [:]) throws -> RunningCommand {
            let settings = settings.merging(["DATABASE_URL": database]) { $1 }
            return try RunningCommand(["attempts", "import", path], settings: settings)
        }

        private func write(apps: [String], at: Timestamp, to path: String) throws {
            let lines = try apps.map { app in
                var attempt = SampleAttempt(id: "\(app)-\(at.seconds)", at: at).json
                attempt["app"] = app
                return String(decoding: try JSONSerialization.data(withJSONObject: attempt), as: UTF8.self) + "\n"
            }
            try lines.joined().write(toFile: path, atomically: false, encoding: .utf8)
        }

        /// One attempt a line; every ten thousandth is broken.
        private func write(_ lines: Int, to path: String) throws {
            let yesterday = Timestamp.now() - .seconds(86_400)
            var text = ""
            for line in 1...lines {
                text += line % 10_000 == 17 ? "{\"broken\n" : SampleAttempt(id: "i-\(line)", at: yesterday - .seconds(line)).text + "\n"
            }
            try text.write(toFile: path, atomically: false, encoding: .utf8)
        }

        private func refusedLines(_ path: String) throws -> [Int] {
            try String(contentsOfFile: path + ".rejects.ndjson", encoding: .utf8).split(separator: "\n").map { line in
                let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return fields?["line"] as? Int ?? -1
            }
        }

        @Test(
            "after Ctrl-C an import reports where it stopped and continues there; each refused line is named once; another run adds nothing"
        )
        func interrupted() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    let path = directory + "/old.ndjson"
                    try write(40_000, to: path)
                    try await withPool(database) { pool in
                        let first = try command(path, database)
                        try await eventually("some of it is stored") {
                            try await pool.query("SELECT coalesce(max(lines), 0) > 0 FROM attemptImports")[0].decode(Bool.self)
                        }
                        #expect(try await first.interrupt() == 130)
                        #expect(first.text.contains("Stopped after line"), "\(first.text)")
                        let ledger = Ledger(session: pool)
                        #expect(try await (1..<39_996).contains(ledger.rows))

                        let second = try command(path, database)
                        #expect(try await second.ended() == 1)
                        #expect(second.text.contains("Continuing after line"), "\(second.text)")
                        #expect(second.text.contains("4 lines were not stored"), "\(second.text)")
                        #expect(second.text.contains(" 39996 new") && second.text.contains("(of the whole file; this run: "))
                        let audited = try await pool.query(
                            """
                            SELECT sum((after ->> 'accepted')::bigint)::bigint, count(*) FILTER (WHERE detail LIKE 'continued after line %'
                                AND detail LIKE '%the whole file: 39996 accepted, 0 advanced, 0 duplicate')
                            FROM auditEntries WHERE action = 'attempts.import'
                            """
                        )
                        let (accepted, continued) = try audited[0].decode((Int, Int).self)
                        #expect(accepted == 39_996 && continued == 1, "each run counts what it stored")
                        #expect(try refusedLines(path) == [17, 10_017, 20_017, 30_017])
                        #expect(try await ledger.rows == 39_996)

                        let third = try command(path, database)
                        #expect(try await third.ended() == 1)
                        #expect(third.text.contains(" 0 new, 39996 known"), "\(third.text)")
                        #expect(try refusedLines(path) == [17, 10_017, 20_017, 30_017])
                        #expect(try await ledger.rows == 39_996)
                        try await ledger.expectConsistent()
                    }
                }
            }
        }

        @Test("a file that another process imports is not imported a second time meanwhile, and nothing is changed")
        func locked() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    let path = directory + "/old.ndjson"
                    try write(20, to: path)
                    try "kept\n".write(toFile: path + ".rejects.ndjson", atomically: false, encoding: .utf8)
                    let other = open(path, O_RDONLY | O_CLOEXEC)
                    let locked = flock(other, LOCK_EX | LOCK_NB)
                    #expect(locked == 0)
                    let refused = try command(path, database)
                    #expect(try await refused.ended() == 3)
                    #expect(refused.text.hasPrefix("\(path) is being imported by another process."), "\(refused.text)")
                    #expect(try String(contentsOfFile: path + ".rejects.ndjson", encoding: .utf8) == "kept\n")
                    close(other)
                    #expect(try await command(path, database).ended() == 1)
                    #expect(try refusedLines(path) == [17])
                }
            }
        }

        @Test("labels are folded by the configured limits, never a usual app or one with a credential, and that is recorded for `import`")
        func foldsLabels() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    let credentials = "fcm: [{serviceAccountFile: account.json, apps: [configured]}]"
                    try credentials.write(toFile: directory + "/credentials.yml", atomically: true, encoding: .utf8)
                    let settings = ["CREDENTIALS_FILE": directory + "/credentials.yml", "ATTEMPTS_LABELS_APPS": "1"]
                    try write(apps: ["usual"], at: .now() - .seconds(3_600), to: directory + "/new.ndjson")
                    #expect(try await command(directory + "/new.ndjson", database, settings: settings).ended() == 0)
                    let apps = ["first", "second", "third", "usual", "configured"]
                    try write(apps: apps, at: .now() - .seconds(9 * 86_400), to: directory + "/old.ndjson")
                    let second = try command(directory + "/old.ndjson", database, settings: settings)
                    #expect(try await second.ended() == 0, "\(second.text)")
                    try await withPool(database) { pool in
                        let rows = try await pool.query("SELECT app, sum(attempts)::bigint FROM attemptRollups GROUP BY app")
                        let counts = Dictionary(uniqueKeysWithValues: try rows.map { try $0.decode((String, Int64).self) })
                        #expect(counts == ["usual": 2, "first": 1, "other": 2, "configured": 1])
                        let folds = try await pool.query("SELECT author || ' ' || label || ' ' || attempts FROM foldedLabelDays")
                        #expect(try folds.map { try $0.decode(String.self) } == ["import app 2"])
                    }
                }
            }
        }

        @Test("what is no file, or a damaged one, is said in a sentence that names it")
        func unreadable() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    let missing = try command(directory + "/none.ndjson", database)
                    #expect(try await missing.ended() == 3)
                    #expect(missing.text == "There is no file \(directory)/none.ndjson.\n")
                    let place = try command(directory, database)
                    #expect(try await place.ended() == 3)
                    #expect(place.text.hasPrefix("\(directory) is a directory."))

                    #expect(try await Shell.run("/bin/sh", ["-c", "mkfifo pipe"], in: directory).code == 0)
                    let pipe = try command(directory + "/pipe", database)
                    #expect(try await pipe.ended() == 3)
                    #expect(pipe.text.hasPrefix("\(directory)/pipe is a pipe; an import can be resumed"), "\(pipe.text)")

                    let path = directory + "/cut.ndjson.gz"
                    try write(9_000, to: directory + "/whole")
                    let packing = "gzip -c whole | head -c 20000 > cut.ndjson.gz"
                    #expect(try await Shell.run("/bin/sh", ["-c", packing], in: directory).code == 0)
                    let cut = try command(path, database)
                    #expect(try await cut.ended() == 1)
                    #expect(cut.text.contains("\(path): the file is cut off. Everything before that is stored"), "\(cut.text)")
                }
            }
        }
    }
}
