import Attempts
import Foundation
import LiveActivities
import NIOCore
import TestDatabase
import Testing

@testable import Server

@Suite("Configuration")
struct ConfigurationTests {
    @Test("a secret can be read from a file; trailing newlines are ignored")
    func secretFromFile() async throws {
        try await withTestDirectory { directory in
            let path = directory + "/url"
            try "postgresql://pushwatch@db.example/pushwatch\n".write(toFile: path, atomically: true, encoding: .utf8)
            let fromEnvironment = try await ServerConfiguration.load(file: nil, environment: ["PUSHWATCH_DATABASE_URL_FILE": path])
            #expect(fromEnvironment.databaseURL == "postgresql://pushwatch@db.example/pushwatch")
            let yaml = directory + "/pushwatch.yml"
            try "database:\n  urlFile: \(path)\nhttp:\n  port: 9000\n".write(toFile: yaml, atomically: true, encoding: .utf8)
            let fromFile = try await ServerConfiguration.load(file: yaml, environment: [:])
            #expect(fromFile.databaseURL == fromEnvironment.databaseURL && fromFile.httpPort == 9000)
        }
    }

    @Test("every setting is in the table of docs/operations.md, under both of its names")
    func documented() throws {
        let table = try String(contentsOfFile: ProjectDirectory.root + "/docs/operations.md", encoding: .utf8)
        #expect(ConfigurationKey.all.count > 30)
        for key in ConfigurationKey.all {
            #expect(table.contains("| `\(key.name)` | `\(key.environmentName)` |"), "\(key.name)")
        }
    }

    @Test("deploy/pushwatch.example.yml is accepted as it is and with all of its examples, and names every setting")
    func example() async throws {
        let text = try String(contentsOfFile: ProjectDirectory.root + "/deploy/pushwatch.example.yml", encoding: .utf8)
        try await withTestDirectory { directory in
            // What it names under /etc is made for the test.
            let files = [
                "database-url": "postgresql://ingest@db.internal/pushwatch",
                "admin-database-url": "postgresql://owner@db.internal/pushwatch",
                "readers-url": "postgresql://ingest@replica.internal/pushwatch",
                "token-keys": try String(contentsOfFile: TestTokenKeys.file, encoding: .utf8), "heartbeat-url": "https://watch.example/1",
                "webhook-secret": "whsec_" + Data(repeating: 7, count: 24).base64EncodedString(),
                "bootstrap-key": String(repeating: "k", count: 24),
                "feed-urls": "https://feed.example/scores", "feeds.yml": "[{url: \"https://feed.example/2\"}]",
                "webhooks.yml": "[{name: a, url: \"https://a.example\", secretFiles: [\(directory)/webhook-secret]}]",
                "texts.yml": "com.a: {prematch: {en: {title: \"{title}\"}}}",
            ]
            for (name, content) in files { try content.write(toFile: directory + "/" + name, atomically: true, encoding: .utf8) }
            let plain = text.replacing("/etc/pushwatch", with: directory)
            // A comment in words begins with a capital or is not of the form `name:`.
            let all = plain.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                line.contains(/^ *# [a-z][A-Za-z]*:( \S+)?$/) ? line.replacing("# ", with: "", maxReplacements: 1) : line
            }.joined(separator: "\n")
            for (name, content) in [("plain", plain), ("all", all)] {
                let path = "\(directory)/\(name).yml"
                try content.write(toFile: path, atomically: true, encoding: .utf8)
                let loaded = try await ServerConfiguration.load(file: path, environment: [:])
                #expect(loaded.apns?.keyId == "KEY1234567" && loaded.fcm != nil && loaded.tokenKeys != nil && loaded.operatorsPort == 8081)
                #expect(loaded.matchFeeds.map(\.url) == (name == "all" ? ["https://feed.example/scores", "https://feed.example/2"] : []))
            }
            let named = try ServerConfiguration.names(ofYAML: all)
            for key in ConfigurationKey.all { #expect(named.contains(key.name) || named.contains(key.name + "File"), "\(key.name)") }
        }
    }

    @Test("the systemd unit hands out every file that deploy/pushwatch.example.yml names, and the service reads what it is handed")
    func unit() async throws {
        let root = ProjectDirectory.root
        let unit = try String(contentsOfFile: root + "/deploy/systemd/pushwatch.service", encoding: .utf8)
        let example = try String(contentsOfFile: root + "/deploy/pushwatch.example.yml", encoding: .utf8)
        let handedOut = unit.matches(of: /(?m)^LoadCredential=\S+:(\S+)$/).map { String($0.1) }
        // Directories are read where they are.
        let named = example.matches(of: /(?m)^ +([a-zA-Z]+): (\/etc\/pushwatch\/\S+)$/).filter { $0.1 != "directory" }.map { String($0.2) }
        #expect(Set(handedOut) == Set(named).union(["/etc/pushwatch/pushwatch.yml"]))
        try await withTestDirectory { directory in
            var environment: [String: String] = [:]
            for line in unit.split(separator: "\n") where line.hasPrefix("Environment=") {
                for match in line.matches(of: /(PUSHWATCH_[A-Z_]+)=(\S+)/) {
                    environment[String(match.1)] = String(match.2).replacing("%d", with: directory)
                }
            }
            let files = [
                "pushwatch.yml": example, "database-url": "postgresql://one@db.internal/pushwatch",
                "admin-database-url": "postgresql://owner@db.internal/pushwatch",
                "token-keys": try String(contentsOfFile: TestTokenKeys.file, encoding: .utf8),
            ]
            for (name, content) in files { try content.write(toFile: directory + "/" + name, atomically: true, encoding: .utf8) }
            let loaded = try await ServerConfiguration.load(file: directory + "/pushwatch.yml", environment: environment)
            #expect(loaded.databaseURL.contains("one@") && loaded.adminDatabaseURL.contains("owner@") && loaded.tokenKeys != nil)
            #expect(loaded.apns?.keyFile == directory + "/apns.p8" && loaded.fcm?.serviceAccountFile == directory + "/firebase.json")
        }
    }

    @Test("what the project deploys with writes no core file: it would have keys and tokens")
    func coreFiles() throws {
        let root = ProjectDirectory.root
        let unit = try String(contentsOfFile: root + "/deploy/systemd/pushwatch.service", encoding: .utf8)
        #expect(unit.contains("\nLimitCORE=0\n"))
        for path in ["compose.yaml", "deploy/citus/compose.yaml"] {
            let compose = try String(contentsOfFile: root + "/" + path, encoding: .utf8)
            #expect(compose.contains("\n    ulimits: { core: 0 }\n"), "\(path)")
        }
    }

    @Test("the environment overrides the file")
    func precedence() async throws {
        try await withTestDirectory { directory in
            let yaml = directory + "/pushwatch.yml"
            try "database:\n  url: postgresql://a\nhttp:\n  port: 9000\n".write(toFile: yaml, atomically: true, encoding: .utf8)
            let loaded = try await ServerConfiguration.load(file: yaml, environment: ["PUSHWATCH_HTTP_PORT": "9001"])
            #expect(loaded.httpPort == 9001 && loaded.databaseURL == "postgresql://a")
        }
    }

    @Test("either form of a secret in the environment overrides either form in the file")
    func precedenceOfSecrets() async throws {
        try await withTestDirectory { directory in
            let (yaml, path) = (directory + "/pushwatch.yml", directory + "/url")
            func loaded(_ file: String, _ environment: [String: String]) async throws -> String {
                try "database:\n  \(file)\n".write(toFile: yaml, atomically: true, encoding: .utf8)
                return try await ServerConfiguration.load(file: yaml, environment: environment).databaseURL
            }
            try "postgresql://from-a-file\n".write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try await loaded("url: postgresql://a", ["PUSHWATCH_DATABASE_URL_FILE": path]) == "postgresql://from-a-file")
            #expect(try await loaded("urlFile: \(path)", ["PUSHWATCH_DATABASE_URL": "postgresql://b"]) == "postgresql://b")
            #expect(try await loaded("urlFile: /nowhere", ["PUSHWATCH_DATABASE_URL_FILE": path]) == "postgresql://from-a-file")
        }
    }

    @Test("an empty variable is none, as Compose makes it of one that is not set: the file counts")
    func emptyVariable() async throws {
        try await withTestDirectory { directory in
            let yaml = directory + "/pushwatch.yml"
            try "database:\n  url: postgresql://a\nhttp:\n  port: 9000\n".write(toFile: yaml, atomically: true, encoding: .utf8)
            let environment = ["PUSHWATCH_HTTP_PORT": "", "PUSHWATCH_DATABASE_URL": ""]
            let loaded = try await ServerConfiguration.load(file: yaml, environment: environment)
            #expect(loaded.httpPort == 9000 && loaded.databaseURL == "postgresql://a")
        }
    }

    @Test("a file without a setting sets nothing; one that has something else is refused")
    func noMapping() async throws {
        try await withTestDirectory { directory in
            let yaml = directory + "/pushwatch.yml"
            func load() async throws -> Int {
                try await ServerConfiguration.load(file: yaml, environment: ["PUSHWATCH_DATABASE_URL": "dbname=u"]).httpPort
            }
            for text in ["", "# http:\n", "---\n", "http:\n  # port: 9000\nadmin:\n  database:\n"] {
                try text.write(toFile: yaml, atomically: true, encoding: .utf8)
                #expect(try await load() == 8080)
            }
            try "- http\n".write(toFile: yaml, atomically: true, encoding: .utf8)
            let error = await #expect(throws: ConfigurationError.self) { try await load() }
            #expect(error?.description.contains("must be a mapping of settings") == true)
        }
    }

    @Test("a list in the file where a setting is one value is an error, not the default")
    func lists() async throws {
        try await withTestDirectory { directory in
            let yaml = directory + "/pushwatch.yml"
            try "database:\n  url: postgresql://a\nusers:\n  audience: [scores]\n".write(toFile: yaml, atomically: true, encoding: .utf8)
            let error = await #expect(throws: ConfigurationError.self) { try await ServerConfiguration.load(file: yaml, environment: [:]) }
            #expect(error?.description.contains("`users.audience` must be one value") == true)
        }
    }

    @Test("the address that analysts give psql is no fault in the shell of a command")
    func analystURL() async throws {
        let environment = ["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_ANALYST_URL": "postgresql://pushwatch_analyst@a/b"]
        #expect(try await ServerConfiguration.load(file: nil, environment: environment).databaseURL == "dbname=u")
    }

    @Test("a value in the place of a section, and a duplicate key, are refused with what to change")
    func sections() async throws {
        try await withTestDirectory { directory in
            let yaml = directory + "/pushwatch.yml"
            for (text, sentence) in [
                ("http: 8080\n", "`http` has no value of its own; the settings under it are `http.host`, `http.port`, "),
                ("http:\n  port: 1\n\nhttp:\n  host: x\n", "the same key twice: http, first in line 1 (line 4, column 1)"),
                ("http: {port: 1, port: 2}\n", "the same key twice: port (line 1, column 8)"),
            ] {
                try text.write(toFile: yaml, atomically: true, encoding: .utf8)
                let error = await #expect(throws: ConfigurationError.self) {
                    try await ServerConfiguration.load(file: yaml, environment: ["PUSHWATCH_DATABASE_URL": "dbname=u"])
                }
                #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
            }
        }
    }

    @Test("how long attempts and their counts are kept")
    func retention() async throws {
        let plan = try await ServerConfiguration.load(file: nil, environment: ["PUSHWATCH_DATABASE_URL": "dbname=u"]).partitionPlan
        #expect(plan.factRetentionDays == 90 && plan.rollupRetentionDays == 400)
        let environment = [
            "PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_ATTEMPTS_RETENTION_DAYS": "180", "PUSHWATCH_ROLLUPS_RETENTION_DAYS": "800",
        ]
        let own = try await ServerConfiguration.load(file: nil, environment: environment).partitionPlan
        #expect(own.factRetentionDays == 180 && own.rollupRetentionDays == 800)
    }

    @Test(
        "what cannot be used is refused with a sentence that names the setting, and never shows a secret",
        arguments: [
            (["PUSHWATCH_HTTP_PROT": "1"], "PUSHWATCH_HTTP_PROT is not a setting"), ([:], "No database is configured"),
            (["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_HTTP_PORT": "eighty"], "PUSHWATCH_HTTP_PORT"),
            (["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_HTTP_PORT_FILE": "/x"], "PUSHWATCH_HTTP_PORT_FILE is not a setting"),
            (["PUSHWATCH_DATABASE_URL_FILE": "/nowhere/url"], "/nowhere/url, which cannot be read: No such file or directory."),
            (
                ["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_TOKEN_KEYS": "/nowhere/keys"],
                "the file /nowhere/keys cannot be read: No such file or directory."
            ),
            (
                ["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_LIVE_CHANNELS": "yes"],
                "(`live.channels`): unknown value `yes`; expected one of off, own, shared."
            ),
            (
                ["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_LOG_FORMAT": "xml"],
                "(`log.format`): unknown value `xml`; expected one of text, json, auto."
            ),
            (["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_LOG_LEVEL": "loud"], "expected one of trace, debug, info, notice"),
            (["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_HTTP_PORT": "99999"], "from 0 to 65535, not `99999`."),
            (
                ["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_BOOTSTRAP_KEY": "hush-hush"],
                "PUSHWATCH_BOOTSTRAP_KEY must have at least 24 characters; it has 9. Generate one with `openssl rand"
            ),
            (["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_ATTEMPTS_RETENTION_DAYS": "15"], "from 16 to 1100"),
            (["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_ATTEMPTS_RETENTION_DAYS": "401"], "(400) must be no less than"),
            (["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_HTTP_DRAIN_SECONDS": "16"], "from 0 to 15"),
            (["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_METRICS_OPEN": "yes"], "(`metrics.open`) must be true or false, not `yes`"),
            (
                [
                    "PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_SIGN_IN_PROXY_HEADER": "X User",
                    "PUSHWATCH_SIGN_IN_PROXY_ADDRESSES": "::1",
                ],
                "`X User` is not the name of an HTTP header"
            ),
            (
                ["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_HTTP_PORT": "80", "PUSHWATCH_OPERATORS_PORT": "80"],
                "PUSHWATCH_OPERATORS_PORT (`operators.port`) must differ from PUSHWATCH_HTTP_PORT"
            ),
            (
                [
                    "PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_HTTP_PORT": "80", "PUSHWATCH_HTTP_HOST": "0.0.0.0",
                    "PUSHWATCH_OPERATORS_PORT": "80", "PUSHWATCH_OPERATORS_HOST": "127.0.0.1",
                ],
                "they are 127.0.0.1:80 and 0.0.0.0:80."
            ),
            (
                ["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_DATABASE_URL_FILE": "/nowhere/url"],
                "PUSHWATCH_DATABASE_URL (`database.url`) and PUSHWATCH_DATABASE_URL_FILE (`database.urlFile`) are two forms of one setting"
            ),
            (
                ["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_HTTP_TLS_KEY_FILE": "/k"],
                "PUSHWATCH_HTTP_TLS_CERTIFICATE_FILE is missing"
            ),
            (
                ["PUSHWATCH_DATABASE_URL": "dbname=u", "PUSHWATCH_HTTP_TLS_CERTIFICATE_FILE": "/c"],
                "PUSHWATCH_HTTP_TLS_KEY_FILE is missing"
            ),
        ] as [([String: String], String)]
    )
    func refused(_ environment: [String: String], _ sentence: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) {
            try await ServerConfiguration.load(file: nil, environment: environment)
        }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("hush-hush") == false)
    }
    /// Without `PUSHWATCH_`.
    static let wrongAddresses: [([String: String], String)] = [
        (["DATABASE_URL": "postgres:/ann:hush-hush@db/x"], "PUSHWATCH_DATABASE_URL (`database.url`, --database): it does not begin"),
        (["DATABASE_URL": "hush-hush"], "Write postgresql://USER:PASSWORD@HOST/DATABASE"),
        (["DATABASE_READERS_URL": "postgresql://a:hush-hush/@b/x"], "PUSHWATCH_DATABASE_READERS_URL (`database.readersUrl`"),
        (["ADMIN_DATABASE_URL": "hush-hush"], "PUSHWATCH_ADMIN_DATABASE_URL (`admin.database.url`"),
        (["PUBLIC_URL": "watch.example"], "(`public.url`) must begin with https://"),
        (["ALERTS_WEBHOOK_URL": "https:/hooks"], "(`alerts.webhook.url`) must begin with https://"),
        (
            ["ALERTS_WEBHOOK_SECRET": "hush-hush"],
            "PUSHWATCH_ALERTS_WEBHOOK_SECRET (`alerts.webhook.secret`) needs PUSHWATCH_ALERTS_WEBHOOK_URL (`alerts.webhook.url`)"
        ),
        (["ALERTS_HEARTBEAT_URL": "https://"], "(`alerts.heartbeatUrl`) must begin with https://"),
        (["MATCHES_FEED_URLS": "http://a,b"], "each URL must begin with https://"),
        (["APNS_PRODUCTION_URL": "http://a"], "(`apns.production.url`) must begin with https:// and a host"),
        (["APNS_SANDBOX_URL": "a.example"], "(`apns.sandbox.url`) must begin with https:// and a host"),
        (["FCM_URL": "fcm.example"], "(`fcm.url`) must begin with https:// and a host"),
        (["USERS_ISSUER": "i"], "PUSHWATCH_USERS_ISSUER needs PUSHWATCH_USERS_JWKS"),
        (["USERS_AUDIENCE": "a"], "PUSHWATCH_USERS_AUDIENCE needs PUSHWATCH_USERS_JWKS"),
        (["USERS_ISSUER": "i", "USERS_JWKS": "http://i/keys"], "(`users.jwks`) must be the path of a file, or a URL"),
    ]

    @Test("an address that cannot be one is refused when it is read, and a password in it is not shown", arguments: wrongAddresses)
    func wrongAddress(_ settings: [String: String], _ sentence: String) async throws {
        let others = [
            "DATABASE_URL": "dbname=u", "APNS_TEAM_ID": "t", "APNS_KEY_ID": "k", "APNS_KEY_FILE": "/k", "FCM_SERVICE_ACCOUNT_FILE": "/a",
        ]
        try await refused(Self.environment(others.merging(settings) { $1 }), sentence)
    }

    private static func environment(_ settings: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: settings.map { ("PUSHWATCH_" + $0.key, $0.value) })
    }

    @Test("the last slash of an address that paths are put behind does not count")
    func lastSlash() async throws {
        let environment = Self.environment([
            "DATABASE_URL": "dbname=u", "FCM_SERVICE_ACCOUNT_FILE": "/a", "FCM_URL": "https://a/", "PUBLIC_URL": "https://b/",
        ])
        let loaded = try await ServerConfiguration.load(file: nil, environment: environment)
        #expect(loaded.fcm?.url == "https://a" && loaded.publicURL == "https://b")
    }

    @Test("a directory or file that a role reads later and that is not there is refused at the start, with its setting")
    func missingFiles() throws {
        let bare = ServerConfiguration.bare("dbname=u")
        try bare.checkFiles()
        func refused(_ setting: String, _ change: (inout ServerConfiguration) -> Void) throws {
            var configuration = bare
            change(&configuration)
            let error = try #require(throws: ConfigurationError.self) { try configuration.checkFiles() }
            #expect(error.description.contains("(`\(setting)`): /nowhere "), "\(error)")
        }
        try refused("migrations.directory") { $0.migrationsDirectory = "/nowhere" }
        try refused("alerts.directory") { $0.alertsDirectory = "/nowhere" }
        try refused("live.directory") { $0.liveDirectory = "/nowhere" }
        try refused("providers.caFile") { $0.providersCAFile = "/nowhere" }
        // A file without a certificate in it.
        var withoutCertificate = bare
        withoutCertificate.providersCAFile = #filePath
        let error = try #require(throws: ConfigurationError.self) { try withoutCertificate.checkFiles() }
        #expect(error.description.contains("has no certificate in PEM form"), "\(error)")
        try refused("users.jwks") { $0.users = .init(issuer: "i", audience: nil, jwks: "/nowhere") }
        var sender = bare
        (sender.roles, sender.alertsDirectory) = ([.api, .send], "/nowhere")
        try sender.checkFiles()
    }

    @Test("what the system says of an address to listen on names the setting of its listener")
    func listenerFailures() throws {
        var configuration = ServerConfiguration.bare("dbname=u")
        (configuration.httpPort, configuration.operatorsPort, configuration.operatorsHost) = (80, 81, "10.9.8.7")
        let (callers, operators) = (configuration.listeners[0], configuration.listeners[1])
        func sentence(_ listener: ListenerConfiguration, _ code: Int32) -> String {
            listener.failure(IOError(errnoCode: code, reason: "bind"))?.description ?? ""
        }
        #expect(sentence(callers, EADDRINUSE).contains("PUSHWATCH_HTTP_PORT (`http.port`): port 80 of 127.0.0.1 is in use"))
        #expect(sentence(operators, EADDRINUSE).contains("PUSHWATCH_OPERATORS_PORT (`operators.port`): port 81 of 10.9.8.7 is in use"))
        #expect(sentence(callers, EACCES).contains("(`http.port`): this user may not listen on port 80"))
        #expect(sentence(operators, EADDRNOTAVAIL).contains("(`operators.host`): 10.9.8.7 is not an address of this machine"))
        #expect(callers.failure(CancellationError()) == nil)
    }
}
