import Cricket
import Foundation
package import LiveActivities
import ServiceKit
import Yams

extension ScoreFeed {
    /// From a YAML file:
    ///
    /// ```yaml
    /// - url: https://feed.example/matches
    ///   tokenFile: /run/secrets/feed-token    # sent as "Authorization: Bearer …"
    ///   headers: {X-Customer: "17"}
    ///   name: league                           # in place of the URL, wherever the feed is named
    ///   priority: 2                            # of several sources of a match, 1 is heard before 2
    ///   mapping: {state: {matchId: /id, …}}    # docs/score-feed.md
    /// ```
    package static func read(file path: String) throws(ConfigurationError) -> [ScoreFeed] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("`matches.feedsFile`: \(path) cannot be read.")
        }
        return try read(yaml: String(decoding: data, as: UTF8.self), name: path)
    }

    static func read(yaml: String, name: String) throws(ConfigurationError) -> [ScoreFeed] {
        let root: Any?
        do { root = try Yams.load(yaml: yaml) } catch { throw ConfigurationError("\(name) is not YAML: \(error)") }
        guard let items = root as? [Any] else { throw ConfigurationError("\(name) must be a list of feeds.") }
        var feeds: [ScoreFeed] = []
        for (index, item) in items.enumerated() { feeds.append(try ScoreFeed(item, at: "\(name): feed \(index + 1)")) }
        if let twice = Dictionary(grouping: feeds, by: \.name).first(where: { $0.value.count > 1 })?.key {
            throw ConfigurationError("\(name): two feeds are called \(twice). Give each a `name` of its own.")
        }
        return feeds
    }

    private init(_ item: Any, at path: String) throws(ConfigurationError) {
        guard let members = item as? [String: Any] else {
            throw ConfigurationError("\(path) must be a mapping of `url`, `name`, `headers`, `tokenFile`, `priority` and `mapping`.")
        }
        if let unknown = members.keys.filter({ !["url", "name", "headers", "tokenFile", "priority", "mapping"].contains($0) }).min() {
            throw ConfigurationError(
                "\(path): `\(unknown)` is not known; a feed has `url`, `name`, `headers`, `tokenFile`, `priority` and `mapping`."
            )
        }
        guard let url = members["url"] as? String, url.hasPrefix("https://") || url.hasPrefix("http://") else {
            throw ConfigurationError("\(path): `url` must begin with https:// or http://.")
        }
        guard let headers = (members["headers"] ?? [String: Any]()) as? [String: Any] else {
            throw ConfigurationError("\(path): `headers` must be a mapping of names to values.")
        }
        let priority = members["priority"] ?? 1
        guard let priority = priority as? Int, (1...9).contains(priority) else {
            throw ConfigurationError("\(path): `priority` is a whole number from 1, which is heard first, to 9.")
        }
        let name = members["name"] as? String
        guard members["name"] == nil || name.map({ (1...100).contains($0.utf8.count) && ScoreFeed.isVisible($0) }) ?? false else {
            throw ConfigurationError("\(path): `name` is 1 to 100 visible ASCII characters, without spaces.")
        }
        self.init(url: url, name: name, tokenFile: members["tokenFile"] as? String, priority: Int16(priority))
        do throws(FeedError) {
            mapping = try members["mapping"].map { value throws(FeedError) in try FeedMapping(JSONValue(yaml: value)) }
        } catch {
            throw ConfigurationError("\(path): `mapping` at \(error)")
        }
        guard members["tokenFile"] == nil || tokenFile != nil else { throw ConfigurationError("\(path): `tokenFile` must be a path.") }
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
                Dictionary(members.map { ("\($0.key.base)", JSONValue(yaml: $0.value)) }, uniquingKeysWith: { first, _ in first })
            )
        default: self = .null
        }
    }
}
