import Delivery
import Foundation
import Yams

extension SendTexts {
    /// From a YAML file:
    ///
    /// ```yaml
    /// com.example.scores:            # "*": every app that has no text of this name
    ///   prematch:
    ///     en: {title: "{title}", body: "Starts in {minutes} minutes."}
    ///     de: {title: "{title}", body: "Beginn in {minutes} Minuten."}
    /// ```
    init(file path: String) throws(ConfigurationError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("`sends.texts`: \(path) cannot be read.")
        }
        try self.init(yaml: String(decoding: data, as: UTF8.self), name: path)
    }

    init(yaml: String, name: String) throws(ConfigurationError) {
        let root: Any?
        do { root = try Yams.load(yaml: yaml) } catch { throw ConfigurationError("\(name) is not YAML: \(error)") }
        guard let apps = root as? [String: [String: [String: [String: String]]]] else {
            throw ConfigurationError("\(name) must map apps to names, names to locales, and locales to a title and a body in quotes.")
        }
        var texts: [String: [String: [String: Text]]] = [:]
        for (app, names) in apps {
            for (text, locales) in names {
                for (locale, members) in locales {
                    if let unknown = members.keys.first(where: { !["title", "body"].contains($0) }) {
                        throw ConfigurationError(
                            "\(name): \(app).\(text).\(locale).\(unknown) is not known; a text has a title and a body."
                        )
                    }
                    texts[app, default: [:]][text, default: [:]][locale] = Text(title: members["title"], body: members["body"])
                }
            }
        }
        self.init(texts)
    }
}
