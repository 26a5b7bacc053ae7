import Delivery

extension SendTexts {
    /// From a YAML file:
    ///
    /// ```yaml
    /// com.example.scores:            # "*": every app that has no text of this name
    ///   prematch:
    ///     en: {title: "{title}", body: "Starts in {minutes} minutes."}
    ///     de: {title: "{title}", body: "Beginn in {minutes} Minuten."}
    /// ```
    init(_ file: SettingsFile) throws(ConfigurationError) {
        let name = file.name
        var texts: [String: [String: [String: Text]]] = [:]
        for (app, names) in try Self.members(file.root, of: "apps", at: name) {
            for (text, locales) in try Self.members(names, of: "names of texts", at: "\(name): \(app)") {
                for (locale, members) in try Self.members(locales, of: "locales", at: "\(name): \(app).\(text)") {
                    texts[app, default: [:]][text, default: [:]][locale] = try Self.text(members, at: "\(name): \(app).\(text).\(locale)")
                }
            }
        }
        self.init(texts)
    }

    private static func members(_ value: Any?, of what: String, at path: String) throws(ConfigurationError) -> [String: Any] {
        guard let members = value as? [String: Any], !members.isEmpty else {
            throw ConfigurationError("\(path) must be a mapping of \(what).")
        }
        return members
    }

    private static func text(_ value: Any, at path: String) throws(ConfigurationError) -> Text {
        let members = try members(value, of: "`title` and `body`", at: path)
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            guard ["title", "body"].contains(key) else {
                throw ConfigurationError("\(path).\(key) is not known; a text has a title and a body.")
            }
            guard value is String else { throw ConfigurationError("\(path).\(key) must be text; put it in quotes.") }
        }
        return Text(title: members["title"] as? String, body: members["body"] as? String)
    }
}
