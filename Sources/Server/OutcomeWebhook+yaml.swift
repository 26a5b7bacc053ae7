import Delivery
import Foundation
import HTTPClient
import Yams

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
    static func read(file path: String) throws(ConfigurationError) -> [OutcomeWebhook] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("`sends.webhooksFile`: \(path) cannot be read.")
        }
        return try read(yaml: String(decoding: data, as: UTF8.self), name: path)
    }

    static func read(yaml: String, name: String) throws(ConfigurationError) -> [OutcomeWebhook] {
        let root: Any?
        do { root = try Yams.load(yaml: yaml) } catch { throw ConfigurationError("\(name) is not YAML: \(error)") }
        guard let items = root as? [Any] else { throw ConfigurationError("\(name) must be a list of webhooks.") }
        var webhooks: [OutcomeWebhook] = []
        for (index, item) in items.enumerated() { webhooks.append(try OutcomeWebhook(item, at: "\(name): webhook \(index + 1)")) }
        let names = Dictionary(grouping: webhooks, by: \.name)
        if let repeated = names.filter({ $0.value.count > 1 }).keys.min() {
            throw ConfigurationError("\(name): two webhooks are named `\(repeated)`; how far each has come is stored under its name.")
        }
        return webhooks
    }

    private init(_ item: Any, at path: String) throws(ConfigurationError) {
        let known = ["name", "url", "secretFiles", "apps", "keys", "events"]
        guard let members = item as? [String: Any] else {
            throw ConfigurationError("\(path) must be a mapping of \(known.map { "`\($0)`" }.joined(separator: ", ")).")
        }
        if let unknown = members.keys.filter({ !known.contains($0) }).min() {
            throw ConfigurationError("\(path): `\(unknown)` is not known; a webhook has \(known.joined(separator: ", ")).")
        }
        func texts(_ member: String) throws(ConfigurationError) -> Set<String>? {
            guard let value = members[member] else { return nil }
            guard let list = value as? [String], !list.isEmpty else {
                throw ConfigurationError("\(path): `\(member)` must be a list of texts; leave it out for all.")
            }
            return Set(list)
        }
        guard let name = members["name"] as? String, name.wholeMatch(of: /[A-Za-z0-9._-]{1,64}/) != nil else {
            throw ConfigurationError("\(path): `name` must be 1 to 64 letters, digits, dots, hyphens or underscores.")
        }
        guard let url = members["url"] as? String, url.hasPrefix("https://") || url.hasPrefix("http://") else {
            throw ConfigurationError("\(path): `url` must begin with https:// or http://.")
        }
        guard let files = members["secretFiles"] as? [String], !files.isEmpty else {
            throw ConfigurationError(
                "\(path): `secretFiles` must be a list of files with one secret each, such as [/run/secrets/outcomes]."
            )
        }
        var secrets: [WebhookSecret] = []
        for file in files {
            guard let data = FileManager.default.contents(atPath: file) else {
                throw ConfigurationError("\(path): \(file) cannot be read.")
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
