import Delivery
import Foundation
import TestDatabase
import Testing

@testable import Server

@Suite("The file of webhooks for outcomes")
struct OutcomeWebhookFileTests {
    private static let secret = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"

    private func withSecretFile<Value>(_ text: String = secret, _ body: (String) throws -> Value) throws -> Value {
        let path = NSTemporaryDirectory() + "pushwatch-webhook-\(UUID().uuidString)"
        try Data((text + "\n").utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    @Test("a webhook has a name, an address and secrets, and may want some outcomes only")
    func webhooks() throws {
        let webhooks = try withSecretFile { path in
            let yaml = """
                - {name: orders, url: "https://a.example/x", secretFiles: [\(path), \(path)],
                   apps: [com.a], keys: [k], events: [failed, sent]}
                - {name: all, url: "http://b.example", secretFiles: [\(path)]}
                """
            return try OutcomeWebhook.read(SettingsFile(yaml: yaml, name: "webhooks.yml"))
        }
        #expect(webhooks.map(\.name) == ["orders", "all"] && webhooks.map(\.secrets.count) == [2, 1])
        #expect(webhooks[0].apps == ["com.a"] && webhooks[0].authors == ["k"] && webhooks[0].events == ["failed", "sent"])
        #expect(webhooks[1].apps == nil && webhooks[1].authors == nil && webhooks[1].events == nil)
    }

    @Test(
        "faults name their place, and repeat no secret",
        arguments: [
            ("a: [", "webhooks.yml is not YAML"), ("a: b", "webhooks.yml must be a list of webhooks"),
            ("- a", "webhook 1 must be a mapping"),
            (
                "- {name: a, url: \"https://a\", secret: hidden}",
                "webhook 1: `secret` is not known; a webhook has `name`, `url`, `secretFiles`"
            ),
            ("- {name: a b, url: \"https://a\"}", "webhook 1: `name` must be 1 to 64"),
            ("- {name: a, url: \"ftp://a\"}", "webhook 1: `url` must begin with https:// or http://"),
            ("- {name: a, url: \"https://a\"}", "webhook 1: `secretFiles` must be a list"),
            ("- {name: a, url: \"https://a\", secretFiles: [/none]}", "webhook 1: /none cannot be read: No such file or directory."),
            ("- {name: a, url: \"https://a\", secretFiles: [FILE], apps: com.a}", "webhook 1: `apps` must be a list of texts"),
            ("- {name: a, url: \"https://a\", secretFiles: [FILE], events: [lost]}", "webhook 1: `lost` is no event; events are accepted"),
            (
                "[{name: a, url: \"https://a\", secretFiles: [FILE]}, {name: a, url: \"https://b\", secretFiles: [FILE]}]",
                "two webhooks are named `a`"
            ),
        ]
    )
    func faults(yaml: String, message: String) throws {
        try withSecretFile { path in
            let error = #expect(throws: ConfigurationError.self) {
                try OutcomeWebhook.read(SettingsFile(yaml: yaml.replacing("FILE", with: path), name: "webhooks.yml"))
            }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains(message) && !text.contains("hidden"), "\(text)")
        }
    }

    @Test("a file without a secret is named, not shown")
    func invalidSecret() throws {
        try withSecretFile("whsec_hidden") { path in
            let yaml = "- {name: a, url: \"https://a\", secretFiles: [\(path)]}"
            let error = #expect(throws: ConfigurationError.self) { try OutcomeWebhook.read(SettingsFile(yaml: yaml, name: "webhooks.yml")) }
            #expect(error.map { "\($0)" }?.contains("\(path): a webhook secret is whsec_") == true)
            #expect(error.map { "\($0)" }?.contains("hidden") == false)
        }
    }
}
