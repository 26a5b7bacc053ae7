import Alerting
import Configuration
import Foundation
import HTTPClient

/// Typed reading of single settings.
struct Settings {
    let reader: ConfigReader

    func text(_ key: ConfigurationKey) -> String? {
        reader.string(forKey: ConfigKey(key.name), isSecret: key.isSecret).flatMap { $0.isEmpty ? nil : $0 }
    }

    func number(_ key: ConfigurationKey, _ range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
        // YAML has the number as a number, the environment as text.
        guard let text = text(key) ?? reader.int(forKey: ConfigKey(key.name)).map(String.init) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ConfigurationError(
                "\(key.environmentName) (`\(key.name)`) must be a whole number from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        return number
    }

    func choice<Value>(_ key: ConfigurationKey, _ parse: (String) -> Value?) throws(ConfigurationError) -> Value? {
        guard let text = text(key) ?? reader.bool(forKey: ConfigKey(key.name)).map(String.init) else { return nil }
        guard let value = parse(text) else {
            throw ConfigurationError("\(key.environmentName) (`\(key.name)`) cannot be `\(text)`: \(key.meaning).")
        }
        return value
    }

    func list(_ key: ConfigurationKey) throws(ConfigurationError) -> [String] {
        (try (key.isSecret ? secret(key) : text(key)) ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            !$0.isEmpty
        }
    }

    /// The value may be a secret, so the error does not show it.
    func url(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        guard let url = try key.isSecret ? secret(key) : text(key) else { return nil }
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
            throw ConfigurationError("\(key.environmentName) (`\(key.name)`) must begin with https:// or http://.")
        }
        return url
    }

    /// Several, separated by commas.
    func urls(_ key: ConfigurationKey) throws(ConfigurationError) -> [String] {
        let urls = try list(key)
        guard urls.allSatisfy({ $0.hasPrefix("https://") || $0.hasPrefix("http://") }) else {
            throw ConfigurationError("\(key.environmentName) (`\(key.name)`): each URL must begin with https:// or http://.")
        }
        return urls
    }

    /// From its own setting, or from the file that `…File` names, whose last line end does not count.
    func secret(_ key: ConfigurationKey, atLeast length: Int = 1) throws(ConfigurationError) -> String? {
        var secret = text(key)
        if secret == nil { secret = try secretFromFile(key) }
        guard let secret else { return nil }
        guard secret.utf8.count >= length else {
            throw ConfigurationError("\(key.environmentName) must have at least \(length) characters.")
        }
        return secret
    }

    func webhookSecret() throws(ConfigurationError) -> WebhookSecret? {
        guard let secret = try secret(.webhookSecret) else { return nil }
        do {
            return try WebhookSecret(secret)
        } catch {
            throw ConfigurationError("\(ConfigurationKey.webhookSecret.environmentName): \(error).")
        }
    }

    private func secretFromFile(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        guard let name = key.fileName, let path = reader.string(forKey: ConfigKey(name)), !path.isEmpty else { return nil }
        guard let bytes = FileManager.default.contents(atPath: path), let text = String(bytes: bytes, encoding: .utf8) else {
            throw ConfigurationError("\(ConfigurationKey.environmentName(of: name)) names \(path), which cannot be read.")
        }
        return String(text.reversed().drop(while: \.isNewline).reversed())
    }
}
