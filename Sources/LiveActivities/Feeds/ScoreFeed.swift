package import Cricket
import Foundation
import HTTPClient

/// A URL to poll for scores, and what its owner wants to see before it answers.
package struct ScoreFeed: Sendable, Hashable {
    package var url: String
    /// What it is called in logs, alerts and the database: its URL without what may hold a secret, unless its owner has named it.
    package var name: String
    package var headers: [String: String]
    /// Holds a bearer token. Read before each request, so that a new one needs no restart.
    package var tokenFile: String?
    /// Of several sources of a match, 1 takes precedence over 2.
    package var priority: Int16
    /// How its answer becomes states; nil: it answers with states.
    package var mapping: FeedMapping?

    package init(
        url: String,
        name: String? = nil,
        headers: [String: String] = [:],
        tokenFile: String? = nil,
        priority: Int16 = 1,
        mapping: FeedMapping? = nil
    ) {
        self.url = url
        self.name = name ?? ScoreFeed.publicName(of: url)
        self.headers = headers
        self.tokenFile = tokenFile
        self.priority = priority
        self.mapping = mapping
    }

    struct UnreadableToken: Error, Sendable, CustomStringConvertible {
        var path: String
        var description: String { "the token file \(path) cannot be read, or is not one line of visible ASCII characters" }
    }

    /// Names and values for a request. Never to be logged.
    func requestHeaders() throws(UnreadableToken) -> [(String, String)] {
        var all = headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        guard let tokenFile else { return all }
        let bytes = FileManager.default.contents(atPath: tokenFile) ?? Data()
        let token = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, ScoreFeed.isVisible(token) else { throw UnreadableToken(path: tokenFile) }
        all.append(("authorization", "Bearer \(token)"))
        return all
    }

    package static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
