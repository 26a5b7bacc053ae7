import Attempts
import Foundation
import LiveActivities
import TestDatabase
import Testing

@testable import Server

@Suite("Configuration")
struct ConfigurationTests {
    @Test("a secret may stand in a file of its own; the file's last line end does not count")
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

    @Test("the environment goes before the file")
    func precedence() async throws {
        try await withTestDirectory { directory in
            let yaml = directory + "/pushwatch.yml"
            try "database:\n  url: postgresql://a\nhttp:\n  port: 9000\n".write(toFile: yaml, atomically: true, encoding: .utf8)
            let loaded = try await ServerConfiguration.load(file: yaml, environment: ["PUSHWATCH_HTTP_PORT": "9001"])
            #expect(loaded.httpPort == 9001 && loaded.databaseURL == "postgresql://a")
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

    @Test("a list in the file where a setting is one value is an error, not the default")
    func lists() async throws {
        try await withTestDirectory { directory in
            let yaml = directory + "/pushwatch.yml"
            try "database:\n  url: postgresql://a\nusers:\n  audience: [scores]\n".write(toFile: yaml, atomically: true, encoding: .utf8)
            let error = await #expect(throws: ConfigurationError.self) { try await ServerConfiguration.load(file: yaml, environment: [:]) }
            #expect(error?.description.contains("`users.audience` must be one value") == true)
        }
    }

    @Test("how long attempts and their counts are kept")
    func retention() async throws {
        let plan = try await ServerConfiguration.load(file: nil, environment: ["PUSHWATCH_DATABASE_URL": "u"]).partitionPlan
        #expect(plan.factRetentionDays == 90 && plan.rollupRetentionDays == 400)
        let environment = [
            "PUSHWATCH_DATABASE_URL": "u", "PUSHWATCH_ATTEMPTS_RETENTION_DAYS": "180", "PUSHWATCH_ROLLUPS_RETENTION_DAYS": "800",
        ]
        let own = try await ServerConfiguration.load(file: nil, environment: environment).partitionPlan
        #expect(own.factRetentionDays == 180 && own.rollupRetentionDays == 800)
    }

    @Test(
        "what cannot be used is refused with a sentence that names the setting, and never shows a secret",
        arguments: [
            (["PUSHWATCH_HTTP_PROT": "1"], "PUSHWATCH_HTTP_PROT is not a setting"), ([:], "No database is configured"),
            (["PUSHWATCH_DATABASE_URL": "u", "PUSHWATCH_HTTP_PORT": "eighty"], "PUSHWATCH_HTTP_PORT"),
            (["PUSHWATCH_DATABASE_URL": "u", "PUSHWATCH_HTTP_PORT_FILE": "/x"], "PUSHWATCH_HTTP_PORT_FILE is not a setting"),
            (["PUSHWATCH_DATABASE_URL_FILE": "/nowhere/url"], "/nowhere/url, which cannot be read"),
            (["PUSHWATCH_DATABASE_URL": "u", "PUSHWATCH_BOOTSTRAP_KEY": "hush-hush"], "PUSHWATCH_BOOTSTRAP_KEY must have at least 24"),
            (["PUSHWATCH_DATABASE_URL": "u", "PUSHWATCH_ATTEMPTS_RETENTION_DAYS": "15"], "from 16 to 1100"),
            (["PUSHWATCH_DATABASE_URL": "u", "PUSHWATCH_ATTEMPTS_RETENTION_DAYS": "401"], "(400) must be no less than"),
            (["PUSHWATCH_DATABASE_URL": "u", "PUSHWATCH_HTTP_DRAIN_SECONDS": "16"], "from 0 to 15"),
            (["PUSHWATCH_DATABASE_URL": "u", "PUSHWATCH_HTTP_TLS_KEY_FILE": "/k"], "PUSHWATCH_HTTP_TLS_CERTIFICATE_FILE is missing"),
            (["PUSHWATCH_DATABASE_URL": "u", "PUSHWATCH_HTTP_TLS_CERTIFICATE_FILE": "/c"], "PUSHWATCH_HTTP_TLS_KEY_FILE is missing"),
        ] as [([String: String], String)]
    )
    func refused(_ environment: [String: String], _ sentence: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) {
            try await ServerConfiguration.load(file: nil, environment: environment)
        }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("hush-hush") == false)
    }
}
