import Foundation
import LiveActivities
import Yams

extension ScoreFeed {
    /// From a YAML file:
    ///
    /// ```yaml
    /// - url: https://feed.example/matches
    ///   tokenFile: /run/secrets/feed-token    # sent as "Authorization: Bearer …"
    ///   headers: {X-Customer: "17"}
    /// ```
    static func read(file path: String) throws(ConfigurationError) -> [ScoreFeed] {
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
        return feeds
    }

    private init(_ item: Any, at path: String) throws(ConfigurationError) {
        guard let members = item as? [String: Any] else {
            throw ConfigurationError("\(path) must be a mapping of `url`, `headers` and `tokenFile`.")
        }
        if let unknown = members.keys.filter({ !["url", "headers", "tokenFile"].contains($0) }).min() {
            throw ConfigurationError("\(path): `\(unknown)` is not known; a feed has `url`, `headers` and `tokenFile`.")
        }
        guard let url = members["url"] as? String, url.hasPrefix("https://") || url.hasPrefix("http://") else {
            throw ConfigurationError("\(path): `url` must begin with https:// or http://.")
        }
        guard let headers = (members["headers"] ?? [String: Any]()) as? [String: Any] else {
            throw ConfigurationError("\(path): `headers` must be a mapping of names to values.")
        }
        self.init(url: url, tokenFile: members["tokenFile"] as? String)
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
