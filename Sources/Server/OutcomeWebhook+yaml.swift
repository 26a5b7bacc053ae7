import Delivery
import Foundation
import HTTPClient
import ServiceKit

extension OutcomeWebhook {
    /// From a YAML file:
    ///
    /// ```yaml
    /// - name: orders
    ///   url: https://orders.example/push-outcomes
    ///   secretFiles: [/run/secrets/outcomes]    # each request is signed with every one
    ///   apps: [com.example.shop]                # all unless given
    ///   keys: [orders]                          # names of the API keys that sends were made with; all unless given
    ///   events: [failed, expired, unreachable]  # all unless given
    /// ```
    static func read(_ file: SettingsFile) throws(ConfigurationError) -> [OutcomeWebhook] {
        var webhooks: [OutcomeWebhook] = []
        for item in try file.list(of: "webhook", with: ["name", "url", "secretFiles", "apps", "keys", "events"]) {
            webhooks.append(try OutcomeWebhook(item))
        }
        let names = Dictionary(grouping: webhooks, by: \.name)
        if let repeated = names.filter({ $0.value.count > 1 }).keys.min() {
            throw ConfigurationError("\(file.name): two webhooks are named `\(repeated)`; how far each has come is stored under its name.")
        }
        return webhooks
    }

    private init(_ item: SettingsMapping) throws(ConfigurationError) {
        let path = item.path
        func texts(_ member: String) throws(ConfigurationError) -> Set<String>? {
            guard let value = item[member] else { return nil }
            guard let list = value as? [String], !list.isEmpty else {
                throw ConfigurationError("\(path): `\(member)` must be a list of texts; leave it out for all.")
            }
            return Set(list)
        }
        guard let name = item["name"] as? String, name.wholeMatch(of: /[A-Za-z0-9._-]{1,64}/) != nil else {
            throw ConfigurationError("\(path): `name` must be 1 to 64 letters, digits, dots, hyphens or underscores.")
        }
        let url = try item.url()
        guard let files = item["secretFiles"] as? [String], !files.isEmpty else {
            throw ConfigurationError(
                "\(path): `secretFiles` must be a list of files with one secret each, such as [/run/secrets/outcomes]."
            )
        }
        var secrets: [WebhookSecret] = []
        for file in files {
            guard let data = FileManager.default.contents(atPath: file) else {
                throw ConfigurationError("\(path): \(file) cannot be read: \(FileFault.cause(file)).", isUnreadableFile: true)
            }
            let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            do { secrets.append(try WebhookSecret(text)) } catch { throw ConfigurationError("\(path): \(file): \(error).") }
        }
        let events = try texts("events")
        if let unknown = events?.subtracting(OutcomeWebhook.eventNames).min() {
            throw ConfigurationError(
                "\(path): `\(unknown)` is no event; events are \(OutcomeWebhook.eventNames.joined(separator: ", "))."
            )
        }
        self.init(name: name, url: url, secrets: secrets, apps: try texts("apps"), authors: try texts("keys"), events: events)
    }
}
