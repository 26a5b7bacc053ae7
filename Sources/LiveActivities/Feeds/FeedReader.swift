import Cricket
import Foundation
import HTTPClient
import PushContract

/// Asks one URL for states, and remembers its validators so that an unchanged answer costs next to nothing.
struct FeedReader: Sendable {
    enum FetchResult: Sendable {
        case states([MatchScore])
        case notModified
        case failed(String, retryAfter: Duration?)
    }

    let feed: ScoreFeed
    private var validators: [(String, String)] = []
    private var pending: [(String, String)] = []

    init(_ feed: ScoreFeed) { self.feed = feed }

    mutating func read(_ send: (OutboundRequest) async throws -> OutboundResponse) async -> FetchResult {
        do {
            let headers = [("accept", "application/json")] + (try feed.requestHeaders()) + validators
            return take(
                try await send(OutboundRequest(method: "GET", url: feed.url, headers: HeaderFields(headers), timeout: .seconds(10)))
            )
        } catch {
            return .failed("\(error)", retryAfter: nil)
        }
    }

    private mutating func take(_ response: OutboundResponse) -> FetchResult {
        let wait = response.header("retry-after").flatMap { Int64($0) }.map { Duration.seconds($0) }
        switch response.status {
        case 304: return .notModified
        case 200: break
        default: return .failed("the feed answered \(response.status)", retryAfter: wait)
        }
        guard !response.isTruncated else { return .failed("the feed's answer is larger than one megabyte", retryAfter: nil) }
        do {
            let states = try MatchScore.readAll(json: response.body, ignoringUnknownFields: true)
            pending = []
            if let etag = response.header("etag") { pending.append(("if-none-match", etag)) }
            if let date = response.header("last-modified") { pending.append(("if-modified-since", date)) }
            return .states(states)
        } catch {
            return .failed("the feed's answer cannot be used: \(error)", retryAfter: nil)
        }
    }

    /// The answer was taken in. Before that, asking again must bring it again.
    mutating func confirm() { validators = pending }

    /// Without what may hold a secret.
    var source: MatchSource { MatchSource(url: String(feed.url.prefix { $0 != "?" && $0 != "#" })) }
}
