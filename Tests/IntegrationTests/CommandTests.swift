import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Postgres
import TestDatabase
import TestSupport
import Testing

/// The command line of both programs, as a person meets it.
@Suite("Commands")
struct CommandTests {
    private static let programs = URL(fileURLWithPath: ServerProcess.binary).deletingLastPathComponent().path

    @Test("pushwatch is linked with no simulator, no database of its own, no demo and no benchmark")
    func linked() async throws {
        let done = try await Shell.run("/bin/bash", [ProjectDirectory.root + "/scripts/check-programs.sh", Self.programs])
        #expect(done.code == 0, "\(done.output)")
    }

    @Test(
        "a duration without a unit is wrong usage, and the error says what to write",
        arguments: [
            ["throttles", "add", "--per-minute", "60", "--duration", "30"], ["alerts", "test", "--timeout", "30"],
            ["dead-letters", "list", "--since", "30"], ["fsck", "--since", "30"], ["send", "--uid", "ann", "--expires-in", "30"],
            ["silences", "add", "--match", "a=b", "--reason", "x", "--duration", "30"],
        ]
    )
    func bareNumber(arguments: [String]) async throws {
        let done = try await Shell.run(ServerProcess.binary, arguments)
        #expect(done.code == 2)
        #expect(done.output.contains("\"30\" has no unit; write 30s"), "\(done.output)")
    }

    static let wrongValues: [([String], String, String)] = [
        (["limiters", "undo", "abc"], "it is not a whole number; `pushwatch limiters list` shows the ids", "limiters undo"),
        (["limiters", "confirm", "abc"], "it is not a whole number; `pushwatch limiters list` shows the ids", "limiters confirm"),
        (["circuits", "close", "abc"], "it is not a whole number; `pushwatch circuits list` shows the ids", "circuits close"),
        (
            ["silences", "add", "--match", "foo", "--reason", "x", "--duration", "30m"],
            "--match \"foo\": expected label=value or label!=value", "silences add"
        ),
        (["exclusions", "add", "--from", "yesterday", "--reason", "x"], "--from \"yesterday\" is not an RFC 3339", "exclusions add"),
        (["exclusions", "remove", "yesterday"], "FROM \"yesterday\" is not an RFC 3339", "exclusions remove"),
        (["serve", "--role", "foo"], "--role: unknown role \"foo\"; expected api, ", "serve"),
        (
            ["keys", "create", "--name", "x", "--scope", "foo:bar"],
            "--scope: unknown scope \"foo:bar\"; expected one of attempts:write, ", "keys create"
        ),
    ]

    @Test("a wrong value is wrong usage of its command, before a database is asked for", arguments: wrongValues)
    func wrongValue(arguments: [String], error: String, command: String) async throws {
        let done = try await Shell.run(ServerProcess.binary, arguments)
        #expect(done.code == 2 && done.output.contains(error), "\(done.output)")
        #expect(done.output.contains("Usage: pushwatch \(command) "), "\(done.output)")
    }

    @Test("a file of score feeds that does not exist is named, and no setting")
    func noFeedFile() async throws {
        let done = try await Shell.run(ServerProcess.binary, ["feeds", "check", "/nowhere/feeds.yml"])
        #expect(done.code == 3 && done.output.contains("/nowhere/feeds.yml: no such file"), "\(done.output)")
        #expect(!done.output.contains("matches.feedsFile"), "\(done.output)")
    }

    @Test("without a filter nothing is removed or retried", arguments: [["throttles", "remove"], ["dead-letters", "retry"]])
    func filterRequired(arguments: [String]) async throws {
        let done = try await Shell.run(ServerProcess.binary, arguments)
        #expect(done.code == 2, "\(done.output)")
    }
}

extension CommandTests {
    @Test(
        "a database without the schema is an environment error: nothing was checked",
        arguments: [
            ["fsck"], ["status"], ["alerts", "list"], ["keys", "list"], ["queues", "list"], ["silences", "list"],
            ["rules", "backtest", alerts, "--since", "1d"],
        ]
    )
    func schemaMissing(arguments: [String]) async throws {
        try await withDatabaseURL(migrated: false) { database in
            let done = try await Shell.run(ServerProcess.binary, arguments + ["--database", database])
            #expect(done.code == 3 && done.output.contains("Run `pushwatch migrate`"), "\(done.output)")
        }
    }

    @Test("what a command names and does not find is exit code 1")
    func notFound() async throws {
        try await withDatabaseURL { database in
            for arguments in [
                ["throttles", "remove", "--app", "nope"], ["throttles", "remove", "--provider", "fcm", "--json"],
                ["silences", "expire", "nope"], ["keys", "revoke", "nope"], ["keys", "rotate", "nope"], ["alerts", "ack", "zzz"],
                ["receivers", "retry", "nope"],
            ] {
                let done = try await Shell.run(ServerProcess.binary, arguments + ["--database", database], in: ProjectDirectory.root)
                #expect(done.code == 1, "\(arguments): \(done.output)")
            }
            let all = try await Shell.run(ServerProcess.binary, ["throttles", "remove", "--all", "--database", database])
            #expect(all.code == 0, "\(all.output)")
        }
    }

    @Test("`receivers list` says that it is this command's configuration that has a receiver")
    func configuredHere() async throws {
        try await withDatabaseURL { database in
            let done = try await Shell.run(
                ServerProcess.binary,
                ["receivers", "list", "--database", database],
                environment: ["PUSHWATCH_ALERTS_WEBHOOK_URL": "http://127.0.0.1:1/hook"]
            )
            #expect(done.code == 0 && done.output.contains("CONFIGURED HERE"), "\(done.output)")
        }
    }

    @Test("a file or directory that is not there is an environment error, a setting that is missing is wrong usage")
    func missingFile() async throws {
        let database = ["PUSHWATCH_DATABASE_URL": "dbname=none"]
        for (arguments, settings, code) in [
            (["serve"], ["PUSHWATCH_TOKEN_KEYS": "/nowhere/keys"], 3), (["serve"], [:], 2),
            (["keys", "list", "--config", "/nowhere/pushwatch.yml"], [:], 3), (["rules", "check", "/nowhere"], [:], 3),
            (["rules", "test", "/nowhere"], [:], 3), (["rules", "backtest", "/nowhere"], [:], 3),
        ] as [([String], [String: String], Int32)] {
            let done = try await Shell.run(ServerProcess.binary, arguments, in: "/", environment: database.merging(settings) { $1 })
            #expect(done.code == code, "\(arguments): \(done.output)")
        }
    }

    @Test("fsck prints the lines of its table in docs/operations.md, in their order, and FAIL where one is violated")
    func fsckTable() async throws {
        let manual = try String(contentsOfFile: ProjectDirectory.root + "/docs/operations.md", encoding: .utf8)
        let rows = manual.split(separator: "\n").drop { !$0.hasPrefix("| it says `FAIL` |") }.prefix { $0.hasPrefix("|") }
        let documented = rows.dropFirst(2).map { $0.dropFirst(2).split(separator: " | ")[0] }
        try await withDatabaseURL { database in
            let done = try await Shell.run(ServerProcess.binary, ["fsck", "--database", database])
            let lines = done.output.matches(of: /(?m)^(ok  |FAIL)  (.+) \(.+\)$/)
            #expect(lines.map { $0.2 } == documented, "\(done.output)")
            // Nothing has made partitions yet.
            #expect(lines.first?.1 == "FAIL" && done.code == 1, "\(done.output)")
        }
    }
}

extension CommandTests {
    /// With standard output to a place of the shell's choosing; standard error is what is returned.
    private func run(_ arguments: [String], into output: String, before: String = "") async throws -> Shell.Done {
        try await Shell.run("/bin/bash", ["-c", "\(before) exec \"$0\" \"$@\" \(output)", ServerProcess.binary] + arguments)
    }

    @Test("output that cannot be written is exit code 3, whatever printed it", arguments: [["rules", "check", alerts], ["--help"]])
    func fullDisk(arguments: [String]) async throws {
        let done = try await run(arguments, into: ">/dev/full")
        #expect(done.code == 3)
        #expect(done.output.hasPrefix("Standard output cannot be written: No space left on device"), "\(done.output)")
    }

    @Test("a reader that has ended ends a command quietly, as SIGPIPE does, also where that is ignored")
    func readerEnded() async throws {
        try await withTestDirectory { directory in
            // A pipe whose last reader is gone before the program starts.
            let pipe = "trap '' PIPE; mkfifo \(directory)/p; exec 3<>\(directory)/p 4>\(directory)/p 3>&-;"
            let done = try await run(["rules", "check", Self.alerts], into: ">&4", before: pipe)
            #expect(done.code == SIGPIPE)
            #expect(done.output.isEmpty, "\(done.output)")
        }
    }

    static let alerts = ProjectDirectory.alerts

    @Test(
        "a mistyped connection string is wrong usage, and no error shows its password",
        arguments: [
            ["alerts", "list"], ["migrate"], ["serve"], ["database", "status"], ["attempts", "tail"], ["rules", "check", alerts],
        ]
    )
    func mistypedDatabase(arguments: [String]) async throws {
        for text in ["postgres:/ann:hush@127.0.0.1:1/x", "postgresql://ann:hush/@127.0.0.1:1/x", "hush"] {
            let done = try await Shell.run(ServerProcess.binary, arguments + ["--database", text])
            #expect(done.code == 2 && done.output.contains("`database.url`, --database"), "\(done.output)")
            #expect(!done.output.contains("hush"), "\(done.output)")
        }
    }

    @Test("what a login may not do, and a read-only server, are environment errors with what to change")
    func refusedByDatabase() async throws {
        try await withDatabaseURL { database in
            func run(_ arguments: [String], _ option: String) async throws -> Shell.Done {
                let url = database + (database.contains("?") ? "&" : "?") + "options=-c%20" + option
                return try await Shell.run(ServerProcess.binary, arguments + ["--database", url])
            }
            let denied = try await run(["keys", "list"], "role%3Dpushwatch_sender")
            #expect(denied.code == 3 && denied.output.contains("The database refuses it: permission denied"), "\(denied.output)")
            let arguments = ["throttles", "add", "--provider", "fcm", "--per-minute", "60", "--duration", "5m"]
            let readOnly = try await run(arguments, "default_transaction_read_only%3Don")
            #expect(readOnly.code == 3 && readOnly.output.contains("The database is read-only: cannot execute"), "\(readOnly.output)")
        }
    }

    @Test("`send --wait` says which send it waits for before it waits; the JSON on standard output stays one document")
    func waiting() async throws {
        let router = Router()
        router.post("sends") { _, _ in Self.json(#"{"sendId": "s-17"}"#, .accepted) }
        router.get("sends/:sendId") { request, _ in
            request.headers[.authorization] == "Bearer works"
                ? Self.json(#"{"sendId": "s-17", "state": "sent"}"#, .ok) : Self.json(#"{"detail": "broken"}"#, .internalServerError)
        }
        try await withRouter(router) { url in
            let arguments = ["send", "--uid", "ann", "--title", "x", "--wait", "--url", url]
            let broken = try await Shell.run(ServerProcess.binary, arguments + ["--key", "fails"])
            #expect(broken.code == 1 && broken.output.hasPrefix("Accepted: s-17.\n"), "\(broken.output)")
            let sent = try await run(arguments + ["--key", "works", "--json"], into: "2>/dev/null")
            #expect(sent.code == 0 && sent.output == "{\"sendId\": \"s-17\", \"state\": \"sent\"}\n", "\(sent.output)")
        }
    }

    @Test("a request that the server refuses is wrong usage")
    func refusedRequest() async throws {
        let router = Router()
        router.post("sends") { _, _ in Self.json(#"{"detail": "title must not be empty"}"#, .unprocessableContent) }
        try await withRouter(router) { url in
            let done = try await Shell.run(ServerProcess.binary, ["send", "--uid", "ann", "--title", "", "--url", url, "--key", "k"])
            #expect(done.code == 2 && done.output.contains("title must not be empty"), "\(done.output)")
        }
    }

    @Test("a server's address has no password, which errors would show")
    func passwordInAddress() async throws {
        let arguments = ["send", "--uid", "ann", "--title", "x", "--key", "k", "--url", "http://ann:hush@127.0.0.1:1"]
        let done = try await Shell.run(ServerProcess.binary, arguments)
        #expect(done.code == 2 && done.output.contains("no user, password or query") && !done.output.contains("hush"), "\(done.output)")
    }

    @Test("a server that does not listen is an environment error with its cause")
    func noAnswer() async throws {
        let arguments = ["send", "--uid", "ann", "--title", "x", "--key", "k", "--url"]
        let closed = try await Shell.run(ServerProcess.binary, arguments + ["http://127.0.0.1:1"])
        #expect(closed.code == 3 && closed.output.contains("http://127.0.0.1:1 cannot be reached: "), "\(closed.output)")
        #expect(!closed.output.contains("notWritten"), "\(closed.output)")
    }

    @Test("a port that is none is wrong usage")
    func noPort() async throws {
        let done = try await Shell.run(ServerProcess.binary + "-dev", ["up", "--port", "99999"])
        #expect(done.code == 2 && done.output.contains("--port must be from 0 to 65535"), "\(done.output)")
    }

    @Test("a report that cannot be written is an error before anything is evaluated", arguments: ["--html", "--svg"])
    func reportNotWritable(option: String) async throws {
        for path in ["/nowhere/report", "/tmp"] {
            let arguments = ["rules", "backtest", Self.alerts, "--since", "1d", option, path, "--database", "dbname=none"]
            let done = try await Shell.run(ServerProcess.binary, arguments)
            #expect(done.code == 3 && done.output == "\(path) cannot be written.\n", "\(done.output)")
        }
    }

    @Test("a file that is not YAML is named with the place, and none of it is shown: it may hold a secret")
    func secretInYAML() async throws {
        try await withTestDirectory { directory in
            let path = directory + "/pushwatch.yml"
            try Data("database:\n\turl: postgresql://ann:hush@db/x\n".utf8).write(to: URL(fileURLWithPath: path))
            let done = try await Shell.run(ServerProcess.binary, ["serve", "--config", path])
            #expect(done.code == 2 && done.output.contains("line 2, column 1") && !done.output.contains("hush"), "\(done.output)")
        }
    }

    @Test("a command that fails while an HTTP client begins ends with its code, each time")
    func failingStart() async throws {
        try await withTestDirectory { directory in
            let path = directory + "/key.p8"
            try Data("no key".utf8).write(to: URL(fileURLWithPath: path))
            let settings = [
                "PUSHWATCH_DATABASE_URL": "dbname=none", "PUSHWATCH_APNS_KEY_FILE": path, "PUSHWATCH_APNS_KEY_ID": "ABCDE12345",
                "PUSHWATCH_APNS_TEAM_ID": "ABCDE12345",
            ]
            for _ in 1...12 {
                let done = try await Shell.run(ServerProcess.binary, ["credentials", "check"], environment: settings)
                #expect(done.code == 1 && done.output.contains("The .p8 file of APNs key ABCDE12345"), "\(done.output)")
            }
        }
    }

    private static func json(_ text: String, _ status: HTTPResponse.Status) -> Response {
        Response(status: status, headers: [.contentType: "application/json"], body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

extension WholeService {
    @Suite("Commands on a local installation")
    struct LocalCommandTests {
        @Test("in its directory every command finds the database, the server and the key, with nothing else given")
        func found() async throws {
            try await withTestDirectory { directory in
                let up = try await UpProcess.start(in: directory)
                let url = try up.value(/ready at (\S+)/)
                for arguments in [
                    ["alerts", "list"], ["queues", "list"], ["circuits", "list", "--json"], ["limiters", "list"], ["throttles", "list"],
                    ["dead-letters", "list"], ["silences", "list"], ["acceptances", "list"], ["exclusions", "list"], ["receivers", "list"],
                    ["keys", "list", "--json"], ["attempts", "tail"], ["migrate", "--status"], ["database", "status"],
                    ["credentials", "check"], ["token-keys", "rotate"],
                ] {
                    let done = try await Shell.run(ServerProcess.binary, arguments, in: directory)
                    #expect(done.code == 0, "\(arguments): \(done.output)")
                }
                let distribute = try await Shell.run(ServerProcess.binary, ["database", "distribute"], in: directory)
                #expect(distribute.code == 1 && distribute.output.contains("has no extension citus"), "\(distribute.output)")
                let receivers = try await Shell.run(ServerProcess.binary, ["receivers", "list"], in: directory)
                #expect(receivers.output.contains("webhook"), "the receiver of this run: \(receivers.output)")
                let retried = try await Shell.run(ServerProcess.binary, ["receivers", "retry", "webhook"], in: directory)
                #expect(retried.code == 0, "\(retried.output)")
                let unknown = try await Shell.run(ServerProcess.binary, ["receivers", "retry", "webhok"], in: directory)
                #expect(unknown.code == 1 && unknown.output.contains("no receiver `webhok`: expected one of "), "\(unknown.output)")
                let added = try await Shell.run(
                    ServerProcess.binary,
                    ["throttles", "add", "--provider", "fcm", "--per-minute", "60", "--duration", "5m"],
                    in: directory
                )
                #expect(added.code == 0 && added.output.contains("fcm"), "\(added.output)")
                let removed = try await Shell.run(ServerProcess.binary, ["throttles", "remove", "--all"], in: directory)
                #expect(removed.output.contains("Removed 1"), "\(removed.output)")
                try await expectJSONOfChanges(in: directory)
                try await expectJSONOfRoutes(at: url, in: directory)
                // The server, by its URL and key: it answers, although no device of this user is known.
                let sent = try await Shell.run(ServerProcess.binary, ["send", "--uid", "nobody", "--title", "x"], in: directory)
                #expect(!sent.output.contains("cannot be reached") && !sent.output.contains("No API key"), "\(url): \(sent.output)")
                let elsewhere = try await Shell.run(ServerProcess.binary, ["alerts", "list"], in: "/")
                #expect(elsewhere.code == 2 && elsewhere.output.contains("No database is configured"), "\(elsewhere.output)")
                #expect(elsewhere.output.contains("`pushwatch-dev up`"), "\(elsewhere.output)")
                #expect(try await up.stop() == 0)
            }
        }

        @Test("links in its alerts lead to the port it listens on")
        func links() async throws {
            try await withTestDirectory { directory in
                let up = try await UpProcess.start(in: directory)
                let url = try up.value(/ready at (\S+)/)
                try await eventually("a test notification is delivered") {
                    try await Shell.run(ServerProcess.binary, ["alerts", "test"], in: directory).code == 0
                }
                let log = try up.log()
                #expect(log.contains("\(url)/oncall/alerts/"), "\(log)")
                #expect(try await up.stop() == 0)
            }
        }

        /// What a command changed is in its JSON, so that a script can go on with it.
        private func expectJSONOfChanges(in directory: String) async throws {
            func run(_ arguments: String...) async throws -> [String: Any] {
                let done = try await Shell.run(ServerProcess.binary, arguments + ["--json"], in: directory)
                #expect(done.code == 0, "\(arguments): \(done.output)")
                return try #require(try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any], "\(done.output)")
            }
            let made = try await run("silences", "add", "--match", "alertname=None", "--reason", "test", "--duration", "5m")
            let silence = (made["silence"] as? [String: Any])?["id"] as? String
            #expect(try await run("silences", "expire", #require(silence))["expired"] as? String == silence)
            let key = try await run("keys", "create", "--name", "test", "--scope", "alerts:read", "--author", "asha")["id"] as? String
            #expect(try await run("keys", "revoke", #require(key), "--author", "asha")["revoked"] as? String == key)
            let from = "2026-01-05T10:00:00Z"
            let added = try await run(
                "exclusions",
                "add",
                "--from",
                from,
                "--to",
                "2026-01-05T11:00:00Z",
                "--reason",
                "test",
                "--author",
                "asha"
            )
            let start = try #require(added["from"] as? String)
            #expect(added["author"] as? String == "asha")
            #expect(try await run("exclusions", "remove", start)["removed"] as? String == start)
        }

        /// `--json` prints an object with the members of the route that the command's help names.
        private func expectJSONOfRoutes(at url: String, in directory: String) async throws {
            func run(_ arguments: [String]) async throws -> [String: Any] {
                let done = try await Shell.run(ServerProcess.binary, arguments + ["--json"], in: directory)
                return try #require(try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any], "\(done.output)")
            }
            let made = try await run(["keys", "create", "--name", "reader", "--scope", "sends:read", "--scope", "alerts:read"])
            let api = API(url: url, bearer: try #require(made["key"] as? String))
            for (command, path) in [
                (["acceptances", "list"], "/acceptances"), (["alerts", "list"], "/alerts"), (["circuits", "list"], "/sends/circuits"),
                (["dead-letters", "list"], "/sends/dead"), (["limiters", "list"], "/sends/deactivation-limiters"),
                (["queues", "list"], "/sends/backlog"), (["sends", "webhooks"], "/sends/webhooks"), (["silences", "list"], "/silences"),
                (["throttles", "list"], "/sends/throttle"),
            ] {
                let help = try await Shell.run(ServerProcess.binary, command + ["--help"], in: directory)
                #expect(help.output.contains("as GET \(path)"), "\(command): \(help.output)")
                let route = try await api.get(path).json
                #expect(try await Set(run(command).keys) == Set(route.keys), "\(command)")
            }
        }

        @Test("a state directory of the schema before the first release is recognised, and the error says what to do")
        func earlierState() async throws {
            try await withTestDirectory { directory in
                let up = try await UpProcess.start(in: directory)
                try await makeEarlier(try up.value(/psql '([^']+)'/))
                #expect(try await up.stop() == 0)
                let state = directory + "/.pushwatch"
                let again = try await Shell.run(ServerProcess.devBinary, ["up", "--empty", "--port", "0", "--state", state], in: directory)
                #expect(again.code == 1)
                #expect(again.output.contains("\(state) holds the database of an earlier development version"), "\(again.output)")
                #expect(again.output.contains("Delete it and start again"))
            }
        }

        @Test("`migrate` recognises a database of the schema before the first release, and the error says what to do")
        func earlierDatabase() async throws {
            try await withDatabaseURL { database in
                let arguments = ["migrate", "--database", database]
                let first = try await Shell.run(ServerProcess.binary, arguments, in: ProjectDirectory.root)
                try #require(first.code == 0, "\(first.output)")
                try await makeEarlier(database)
                for arguments in [arguments, arguments + ["--status"]] {
                    let done = try await Shell.run(ServerProcess.binary, arguments, in: ProjectDirectory.root)
                    #expect(done.code == 1)
                    #expect(
                        done.output.contains("earlier development version, which cannot be upgraded: use a new, empty database"),
                        "\(done.output)"
                    )
                }
            }
        }

        @Test("with `log.format: json` every line of `migrate` is JSON, also the reason why it fails")
        func migrateInJSON() async throws {
            try await withDatabaseURL(migrated: false) { database in
                for (directory, code, message) in [
                    ("sql/migrations", 0, "applied migration"), ("/nowhere", 3, "No such file or directory"),
                ] {
                    let environment = [
                        "PUSHWATCH_DATABASE_URL": database, "PUSHWATCH_LOG_FORMAT": "json", "PUSHWATCH_MIGRATIONS_DIRECTORY": directory,
                    ]
                    let done = try await Shell.run(ServerProcess.binary, ["migrate"], in: ProjectDirectory.root, environment: environment)
                    #expect(done.code == code, "\(done.output)")
                    let lines = try done.output.split(separator: "\n").map { line in
                        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(done.output)")
                    }
                    #expect(lines.contains { ($0["msg"] as? String)?.contains(message) == true }, "\(done.output)")
                }
            }
        }

        @Test("`sends replay` of a webhook that does not exist is a failure, not wrong usage")
        func replayOfNothing() async throws {
            try await withDatabaseURL { database in
                let arguments = ["sends", "replay", "nothing", "--after", "0-0", "--database", database]
                let done = try await Shell.run(ServerProcess.binary, arguments, in: ProjectDirectory.root)
                #expect(done.code == 1 && done.output.contains("There is no webhook named nothing"), "\(done.output)")
                #expect(!done.output.contains("USAGE"))
            }
        }

        /// As the record of migrations was before the files were rewritten.
        private func makeEarlier(_ database: String) async throws {
            _ = try await withPool(database) { pool in
                try await pool.execute("UPDATE schemaMigrations SET name = 'create_sends' WHERE version = 4")
            }
        }
    }
}
