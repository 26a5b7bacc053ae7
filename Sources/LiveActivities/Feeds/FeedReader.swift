package import Cricket
import Foundation
import HTTPClient
import PushContract

/// Asks one URL for states, and remembers its validators so that an unchanged answer costs next to nothing.
struct FeedReader: Sendable {
    enum FetchResult: Sendable {
        /// The usable states, and what is wrong with the others.
        case states([MatchScore], faults: [FeedError] = [])
        case notModified
        case failed(String, retryAfter: Duration?)
    }

    let feed: ScoreFeed
    private var validators: [(String, String)] = []
    private var pending: [(String, String)] = []
    private(set) var taken = TakenAnswer()

    init(_ feed: ScoreFeed) { self.feed = feed }

    mutating func read(_ send: (OutboundRequest) async throws -> OutboundResponse) async -> FetchResult {
        do {
            let headers = [("accept", "application/json")] + (try feed.requestHeaders()) + validators
            var request = OutboundRequest(method: "GET", url: feed.url, headers: HeaderFields(headers), timeout: .seconds(10))
            // Feeds of a host that hangs take no connections from those of others.
            request.connectionGroup = "feeds of \(URL(string: feed.url)?.host ?? "")"
            return take(try await send(request))
        } catch {
            return .failed("\(error)", retryAfter: nil)
        }
    }

    private mutating func take(_ response: OutboundResponse) -> FetchResult {
        let wait = response.header("retry-after").flatMap { Int64($0) }.map { Duration.seconds($0) }
        switch response.status {
        case 304:
            pending = validators
            return .notModified
        case 200: break
        default: return .failed("the feed answered \(response.status)", retryAfter: wait)
        }
        guard !response.isTruncated else { return .failed("the feed's answer is larger than one megabyte", retryAfter: nil) }
        do throws(FeedError) {
            let (states, faults) = try feed.states(in: response.body)
            if let first = faults.first, states.isEmpty { throw first }
            pending = []
            if let etag = response.header("etag") { pending.append(("if-none-match", etag)) }
            if let date = response.header("last-modified") { pending.append(("if-modified-since", date)) }
            return .states(states, faults: faults)
        } catch {
            return .failed("the feed's answer cannot be used: \(error)", retryAfter: nil)
        }
    }

    /// The answer was taken in. Before that, and while a match of it is missing, asking again must bring it again.
    mutating func confirm(_ taken: TakenAnswer) {
        validators = taken.isComplete ? pending : []
        self.taken = taken
    }

    /// Without what may hold a secret.
    var source: MatchSource { MatchSource(url: feed.name, priority: feed.priority) }
}

extension ScoreFeed {
    /// The states in an answer, and what is wrong with those matches that have none: one of them does not prevent others from being stored.
    package func states(in answer: [UInt8]) throws(FeedError) -> (states: [MatchScore], faults: [FeedError]) {
        let json = try MatchScore.parse(answer)
        var (states, faults): ([MatchScore], [FeedError]) = ([], [])
        for state in try mapping?.states(in: json).map(\.state) ?? MatchScore.readAll(json) {
            switch state {
            case .success(let state): states.append(state)
            case .failure(let fault): faults.append(fault)
            }
        }
        return (states, faults)
    }

    /// A URL without sign-in and query.
    static func publicName(of url: String) -> String {
        let shown = url.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = shown.range(of: "://"), let at = shown[scheme.upperBound...].prefix(while: { $0 != "/" }).lastIndex(of: "@")
        else {
            return String(shown)
        }
        return String(shown[..<scheme.upperBound] + shown[shown.index(after: at)...])
    }
}
