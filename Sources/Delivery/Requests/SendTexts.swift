import HTTPServer
package import ServiceKit

/// Titles and bodies that sends can name, by app, name and locale. Each device gets the one of its locale.
package struct SendTexts: Sendable, Hashable {
    package struct Text: Sendable, Hashable {
        package var title: String?
        package var body: String?

        package init(title: String? = nil, body: String? = nil) {
            self.title = title
            self.body = body
        }
    }

    /// Texts of every app that has none of its own.
    static let everyApp = "*"
    /// For devices of another locale, and those that report none.
    static let usualLocale = "en"
    package static let standard = SendTexts([
        everyApp: ["prematch": [usualLocale: Text(title: "{title}", body: "Starts in {minutes} minutes.")]]
    ])

    /// By app, name and lower-case locale.
    private var texts: [String: [String: [String: Text]]]

    package init(_ texts: [String: [String: [String: Text]]]) {
        self.texts = texts.mapValues { names in
            names.mapValues { locales in Dictionary(locales.map { (Self.normalized($0.key), $0.value) }) { first, _ in first } }
        }
    }

    /// These before those of `other`.
    package func over(_ other: SendTexts) -> SendTexts {
        var merged = self
        merged.texts.merge(other.texts) { own, others in own.merging(others) { own, _ in own } }
        return merged
    }

    /// Of the locale, of its language, of `usualLocale`, or of the first locale there is.
    package func text(_ name: String, app: String, locale: String?) -> Text? {
        guard let locales = texts[app]?[name] ?? texts[Self.everyApp]?[name] else { return nil }
        let locale = locale.map(Self.normalized)
        let language = locale.flatMap { $0.split(separator: "-").first.map(String.init) }
        let candidates = [locale, language, Self.usualLocale].compactMap { $0 } + locales.keys.sorted()
        return candidates.lazy.compactMap { locales[$0] }.first
    }

    /// The content of a send with the title and body that its `text` names; nil when there is no such text for the app.
    package func resolve(_ content: JSONValue, app: String, locale: String?) -> JSONValue? {
        guard case .object(var members) = content, let named = members["text"] else { return content }
        guard let name = named["name"]?.string, let text = text(name, app: app, locale: locale) else { return nil }
        let values = (named["values"]?.members ?? [:]).compactMapValues(\.string)
        members["text"] = nil
        if let title = text.title { members["title"] = .string(Self.filled(title, values)) }
        if let body = text.body { members["body"] = .string(Self.filled(body, values)) }
        return .object(members)
    }

    private static func filled(_ template: String, _ values: [String: String]) -> String {
        values.reduce(template) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    private static func normalized(_ locale: String) -> String { locale.lowercased().replacing("_", with: "-") }
}

extension SendTexts {
    /// The same of stored content. What names an unknown text is left as it is, and refused where it is sent.
    func resolved(_ content: String, app: String, locale: String?) -> String {
        guard Self.mayNameText(content), let json = try? JSONParser.read(Array(content.utf8)) else { return content }
        return resolve(json, app: app, locale: locale)?.text ?? content
    }

    private static let textKey = Array("\"text\"".utf8)

    /// In bytes: every claimed delivery comes through here, and a search by characters would take as long as the rest of its claim.
    static func mayNameText(_ content: String) -> Bool {
        var content = content
        return content.withUTF8 { bytes in
            bytes.indices.contains { bytes[$0] == textKey[0] && bytes[$0...].starts(with: textKey) }
        }
    }
}
