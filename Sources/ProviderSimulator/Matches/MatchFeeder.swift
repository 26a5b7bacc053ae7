package import Cricket
import Foundation
package import HTTPClient
package import PushContract

/// Puts the states of a replay to a running server, when they are due.
///
/// The position of the replay follows from the clock: after a pause, a restart or a lost server it goes on from where the match is by then.
package struct MatchFeeder: Sendable {
    package typealias Send = @Sendable (OutboundRequest) async throws -> OutboundResponse

    /// What the server made of one state.
    package struct Receipt: Sendable, Decodable {
        package var result: String
        package var seq: Int64
        package var phase: String
        package var events: [String]
    }

    package struct Tally: Sendable {
        package var sent = 0
        package var accepted = 0
        package var stale = 0
        package var failed = 0
    }

    /// The server refused a state for a reason that another try does not change.
    package struct Refused: Error {
        package var message: String
    }

    let feed: ReplayFeed
    let url: String
    let key: String
    let send: Send
    let pause: @Sendable (Duration) async throws -> Void
    package var onReceipt: @Sendable (_ index: Int, _ receipt: Receipt, _ tally: Tally) -> Void = { _, _, _ in }
    package var onFailure: @Sendable (_ why: String) -> Void = { _ in }

    /// - Parameters:
    ///   - key: an API key with the scope `matches:write`.
    ///   - pause: how waiting is done; a test gives its own.
    package init(
        feed: ReplayFeed,
        url: String,
        key: String,
        send: @escaping Send,
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.feed = feed
        self.url = url
        self.key = key
        self.send = send
        self.pause = pause
    }

    /// Plays until the last state was taken in. Throws `Refused` when the server refuses what would be refused again.
    package func run(now: @Sendable () -> Timestamp = { .now() }) async throws -> Tally {
        var tally = Tally()
        // Who joins in mid-match begins with the state of the moment.
        var next = max(0, feed.arrived(at: now()) - 1)
        while next < feed.messages.count {
            try Task.checkCancellation()
            let due = feed.arrived(at: now())
            guard next < due else {
                try await pause(wait(for: next, now: now()))
                continue
            }
            do {
                let receipt = try await put(feed.score(of: feed.messages[next]), now: now())
                tally.count(receipt)
                onReceipt(next, receipt, tally)
                next += 1
            } catch let failure as ServerIsAway {
                tally.failed += 1
                onFailure(failure.why)
                try await pause(.seconds(1))
                next = max(next, feed.arrived(at: now()) - 1)
            }
        }
        return tally
    }

    /// Puts the last state at once, whatever the clock says: a match that will not be continued must not stay live.
    package func finish(now: @Sendable () -> Timestamp = { .now() }) async throws -> Receipt {
        guard let last = feed.messages.last else { throw Refused(message: "The match has no states.") }
        do {
            return try await put(feed.score(of: last), now: now())
        } catch let failure as ServerIsAway {
            throw Refused(message: failure.why)
        }
    }

    private func wait(for index: Int, now: Timestamp) -> Duration {
        let due = feed.plan.moment(ofMatchTime: feed.messages[index].milliseconds)
        return max(.milliseconds(1), due - now)
    }

    private func put(_ due: MatchScore, now: Timestamp) async throws -> Receipt {
        var score = due
        // The state before play is dated to its start, and the last one to the end: a server refuses what is from later than now.
        score.updatedAt = min(due.updatedAt, now)
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/"))
        let path = score.matchId.addingPercentEncoding(withAllowedCharacters: allowed) ?? score.matchId
        let request = OutboundRequest(
            method: "PUT",
            url: "\(url)/matches/\(path)",
            headers: [("authorization", "Bearer \(key)"), ("content-type", "application/json")],
            body: Array(score.json),
            timeout: .seconds(10)
        )
        let response: OutboundResponse
        do {
            response = try await send(request)
        } catch {
            try Task.checkCancellation()
            throw ServerIsAway(why: "\(error)")
        }
        switch response.status {
        case 200: return try JSONDecoder().decode(Receipt.self, from: Data(response.body))
        case 429, 500...: throw ServerIsAway(why: "the server answered \(response.status)")
        default: throw Refused(message: MatchFeeder.refusal(response))
        }
    }

    private static func refusal(_ response: OutboundResponse) -> String {
        struct Problem: Decodable { var detail: String }
        let detail = (try? JSONDecoder().decode(Problem.self, from: Data(response.body)))?.detail ?? ""
        return "The server refused the score (\(response.status)). \(detail)"
    }

    private struct ServerIsAway: Error { var why: String }
}

extension MatchFeeder.Tally {
    fileprivate mutating func count(_ receipt: MatchFeeder.Receipt) {
        sent += 1
        if receipt.result == "accepted" { accepted += 1 }
        if receipt.result == "stale" { stale += 1 }
    }
}
