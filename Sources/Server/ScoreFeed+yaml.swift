import Cricket
package import LiveActivities
import ServiceKit

extension ScoreFeed {
    /// From a YAML file:
    ///
    /// ```yaml
    /// - url: https://feed.example/matches
    ///   tokenFile: /run/secrets/feed-token    # sent as "Authorization: Bearer …"
    ///   headers: {X-Customer: "17"}
    ///   name: league                           # in place of the URL, wherever the feed is named
    ///   priority: 2                            # of several sources of a match, 1 takes precedence over 2
    ///   mapping: {state: {matchId: /id, …}}    # docs/score-feed.md
    /// ```
    package static func read(file path: String) throws(ConfigurationError) -> [ScoreFeed] {
        try read(SettingsFile(path, of: .matchFeedsFile))
    }

    static func read(_ file: SettingsFile) throws(ConfigurationError) -> [ScoreFeed] {
        var feeds: [ScoreFeed] = []
        for item in try file.list(of: "feed", with: ["url", "name", "headers", "tokenFile", "priority", "mapping"]) {
            feeds.append(try ScoreFeed(item))
        }
        if let twice = Dictionary(grouping: feeds, by: \.name).first(where: { $0.value.count > 1 })?.key {
            throw ConfigurationError("\(file.name): two feeds are called \(twice). Give each a `name` of its own.")
        }
        return feeds
    }

    private init(_ item: SettingsMapping) throws(ConfigurationError) {
        let path = item.path
        let url = try item.url()
        guard let headers = (item["headers"] ?? [String: Any]()) as? [String: Any] else {
            throw ConfigurationError("\(path): `headers` must be a mapping of names to values.")
        }
        let priority = item["priority"] ?? 1
        guard let priority = priority as? Int, (1...9).contains(priority) else {
            throw ConfigurationError("\(path): `priority` must be a whole number from 1 (takes precedence) to 9.")
        }
        let name = item["name"] as? String
        guard item["name"] == nil || name.map({ (1...100).contains($0.utf8.count) && ScoreFeed.isVisible($0) }) ?? false else {
            throw ConfigurationError("\(path): `name` must be 1 to 100 visible ASCII characters, without spaces.")
        }
        self.init(url: url, name: name, tokenFile: item["tokenFile"] as? String, priority: Int16(priority))
        do throws(FeedError) {
            mapping = try item["mapping"].map { value throws(FeedError) in try FeedMapping(JSONValue(yaml: value)) }
        } catch {
            throw ConfigurationError("\(path): `mapping` at \(error)")
        }
        guard item["tokenFile"] == nil || tokenFile != nil else { throw ConfigurationError("\(path): `tokenFile` must be a path.") }
        for (header, value) in headers {
            // The value may be a secret: it is not repeated.
            guard let text = value as? String, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw ConfigurationError("\(path): the value of `\(header)` must be visible ASCII text; put it in quotes.")
            }
            guard !header.isEmpty, ScoreFeed.isVisible(header), !header.contains(":") else {
                throw ConfigurationError("\(path): `\(header)` is not the name of a header.")
            }
            self.headers[header] = text
        }
    }
}

extension JSONValue {
    /// What Yams makes of a document, as JSON. Keys that are no texts become texts: a feed's `1` is named by `1` and by `"1"`.
    fileprivate init(yaml value: Any) {
        switch value {
        case let text as String: self = .string(text)
        case let flag as Bool: self = .bool(flag)
        case let number as Int: self = .integer(Int64(number))
        case let number as Double: self = .number(number)
        case let elements as [Any]: self = .array(elements.map { JSONValue(yaml: $0) })
        case let members as [AnyHashable: Any]:
            self = .object(
                JSONMembers(
                    Dictionary(members.map { ("\($0.key.base)", JSONValue(yaml: $0.value)) }, uniquingKeysWith: { first, _ in first })
                )
            )
        default: self = .null
        }
    }
}
