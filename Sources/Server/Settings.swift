import Alerting
import Configuration
import Foundation
import HTTPClient
import Postgres
import ServiceKit

/// Typed reading of single settings.
struct Settings {
    private let reader: ConfigReader
    /// Of one provider each, in the same order.
    private let single: [ConfigReader]

    /// - Parameter providers: the first one that has a setting counts.
    init(_ providers: [any ConfigProvider]) {
        reader = ConfigReader(providers: providers)
        single = providers.map { ConfigReader(provider: $0) }
    }

    func text(_ key: ConfigurationKey) -> String? { text(key, in: reader) }

    private func text(_ key: ConfigurationKey, in reader: ConfigReader) -> String? {
        reader.string(forKey: ConfigKey(key.name), isSecret: key.isSecret).flatMap { $0.isEmpty ? nil : $0 }
    }

    func number(_ key: ConfigurationKey, _ range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
        // YAML has the number as a number, the environment as text.
        guard let text = text(key) ?? reader.int(forKey: ConfigKey(key.name)).map(String.init) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ConfigurationError(
                "\(key.environmentName) (`\(key.name)`) must be a whole number from \(range.lowerBound) to \(range.upperBound), not "
                    + "`\(text)`."
            )
        }
        return number
    }

    /// - Parameter values: what it may be, for the error.
    func choice<Value>(_ key: ConfigurationKey, of values: [String], _ parse: (String) -> Value?) throws(ConfigurationError) -> Value? {
        guard let text = text(key) ?? reader.bool(forKey: ConfigKey(key.name)).map(String.init) else { return nil }
        guard let value = parse(text) else {
            throw ConfigurationError(
                "\(key.environmentName) (`\(key.name)`): unknown value `\(text)`; expected one of \(values.joined(separator: ", "))."
            )
        }
        return value
    }

    func flag(_ key: ConfigurationKey) throws(ConfigurationError) -> Bool? {
        guard let text = text(key) ?? reader.bool(forKey: ConfigKey(key.name)).map(String.init) else { return nil }
        guard let flag = Bool(text) else {
            throw ConfigurationError("\(key.environmentName) (`\(key.name)`) must be true or false, not `\(text)`.")
        }
        return flag
    }

    func list(_ key: ConfigurationKey) throws(ConfigurationError) -> [String] {
        (try (key.isSecret ? secret(key) : text(key)) ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            !$0.isEmpty
        }
    }

    /// The value may be a secret, so the error does not show it.
    func url(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        guard let url = try key.isSecret ? secret(key) : text(key) else { return nil }
        guard url.isHTTPAddress else {
            throw ConfigurationError("\(key.environmentName) (`\(key.name)`) must begin with https:// or http:// and a host.")
        }
        return url
    }

    /// Of a provider, or the setting's default.
    func endpoint(_ key: ConfigurationKey) throws(ConfigurationError) -> String {
        let url = text(key) ?? key.standard
        guard url.isHTTPAddress, url.hasPrefix("https://") else {
            throw ConfigurationError("\(key.environmentName) (`\(key.name)`) must begin with https:// and a host.")
        }
        return url.withoutLastSlash
    }

    /// A connection string. It may have a password, so the error does not show it.
    func database(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        guard let text = try secret(key) else { return nil }
        guard let fault = ConnectionString.fault(in: text) else { return text }
        let option = key == .databaseReadersURL ? "" : ", --database"
        throw ConfigurationError(
            "\(key.environmentName) (`\(key.name)`\(option)): \(fault). Write postgresql://USER:PASSWORD@HOST/DATABASE."
        )
    }

    /// Several, separated by commas.
    func urls(_ key: ConfigurationKey) throws(ConfigurationError) -> [String] {
        let urls = try list(key)
        guard urls.allSatisfy(\.isHTTPAddress) else {
            throw ConfigurationError("\(key.environmentName) (`\(key.name)`): each URL must begin with https:// or http:// and a host.")
        }
        return urls
    }

    /// From its own setting, or from the file that `…File` names, without its trailing newlines. Either form of the environment takes
    /// precedence over either form of the file; both forms in one of them are an error.
    func secret(_ key: ConfigurationKey, atLeast length: Int = 1) throws(ConfigurationError) -> String? {
        var secret: String?
        for reader in single where secret == nil {
            secret = text(key, in: reader)
            guard let name = key.fileName, let path = reader.string(forKey: ConfigKey(name)), !path.isEmpty else { continue }
            let setting = ConfigurationKey.environmentName(of: name)
            guard secret == nil else {
                throw ConfigurationError(
                    "\(key.environmentName) (`\(key.name)`) and \(setting) (`\(name)`) are two forms of one setting: remove one of them."
                )
            }
            secret = try secretFromFile(path, setting)
        }
        guard let secret else { return nil }
        guard secret.utf8.count >= length else {
            let advice = length > 1 ? " Generate one with `openssl rand -base64 24`." : ""
            throw ConfigurationError(
                "\(key.environmentName) must have at least \(length) characters; it has \(secret.utf8.count).\(advice)"
            )
        }
        return secret
    }

    func webhookSecret() throws(ConfigurationError) -> WebhookSecret? {
        guard let secret = try secret(.webhookSecret) else { return nil }
        guard try url(.webhookURL) != nil else {
            throw ConfigurationError(
                "\(ConfigurationKey.webhookSecret.environmentName) (`\(ConfigurationKey.webhookSecret.name)`) needs "
                    + "\(ConfigurationKey.webhookURL.environmentName) (`\(ConfigurationKey.webhookURL.name)`): it signs what is sent there."
            )
        }
        do {
            return try WebhookSecret(secret)
        } catch {
            throw ConfigurationError("\(ConfigurationKey.webhookSecret.environmentName): \(error).")
        }
    }

    private func secretFromFile(_ path: String, _ setting: String) throws(ConfigurationError) -> String {
        guard let bytes = FileManager.default.contents(atPath: path), let text = String(bytes: bytes, encoding: .utf8) else {
            throw ConfigurationError(
                "\(setting) names \(path), which cannot be read: \(FileFault.cause(path)).",
                isUnreadableFile: true
            )
        }
        return String(text.reversed().drop(while: \.isNewline).reversed())
    }
}

extension String {
    /// With a host, and no space that a line end or a comma left in it.
    var isHTTPAddress: Bool { wholeMatch(of: /https?:\/\/[^\s\/?#]+\S*/) != nil }

    /// What paths are put behind.
    var withoutLastSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
