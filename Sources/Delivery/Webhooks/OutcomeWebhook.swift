import Foundation
package import HTTPClient
import PushContract
import ServiceKit

/// Where outcomes of sends are posted as they become true, signed as Standard Webhooks defines.
package struct OutcomeWebhook: Sendable, Hashable {
    /// Outcomes in one request at most.
    static let batchLimit = 100
    /// From sending to the end of the answer.
    static let timeout = Duration.seconds(10)

    /// Its cursor is stored under this name.
    package var name: String
    package var url: String
    /// Requests are signed with each, so that one can replace another.
    package var secrets: [WebhookSecret]
    /// Only these; nil: all.
    package var apps: Set<String>?
    /// Names of the API keys that sends were made with; nil: all.
    package var authors: Set<String>?
    /// `SendEvent`s; nil: all.
    package var events: Set<String>?

    package init(
        name: String,
        url: String,
        secrets: [WebhookSecret],
        apps: Set<String>? = nil,
        authors: Set<String>? = nil,
        events: Set<String>? = nil
    ) {
        self.name = name
        self.url = url
        self.secrets = secrets
        self.apps = apps
        self.authors = authors
        self.events = events
    }

    /// What `events` may name.
    package static var eventNames: [String] { SendEvent.allCases.map(\.rawValue) }

    /// The outcomes of the stream that it is sent.
    var filter: OutcomeStream.Filter { OutcomeStream.Filter(apps: apps, authors: authors, events: events) }

    /// One request with these outcomes. The id is the same whenever the same ones are sent again, whatever else was searched for them.
    func request(_ outcomes: [JSONValue], now: Timestamp) -> OutboundRequest {
        // With their number: after an erasure, or with another filter, others are between the same two.
        let ends = [outcomes.first, outcomes.last].compactMap { $0?["cursor"]?.string }
        let id = ([name] + ends + [String(outcomes.count)]).joined(separator: "_")
        let body = JSONValue.object([
            "type": "sends.outcomes", "timestamp": .string(now.rfc3339), "data": .object(["outcomes": .array(outcomes)]),
        ]).text
        let signatures = secrets.map { WebhookSignature($0).header(id: id, timestamp: now.seconds, body: Data(body.utf8)) }
        var request = OutboundRequest(
            url: url,
            headers: [
                ("Content-Type", "application/json"), ("User-Agent", "Pushwatch"), ("webhook-id", id),
                ("webhook-timestamp", String(now.seconds)), ("webhook-signature", signatures.joined(separator: " ")),
            ],
            body: Array(body.utf8),
            timeout: Self.timeout
        )
        request.connectionGroup = "outcomes \(name)"
        return request
    }

    /// A text without what must not be stored or logged.
    func redacted(_ text: String) -> String {
        let query = url.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init)
        return text.redacting(secrets.map(\.text) + [query].compactMap { $0 })
    }
}

/// What follows from the answer to a webhook's request.
enum OutcomeWebhookDecision: Hashable {
    case delivered
    /// The same outcomes again, and those that came meanwhile.
    case retry(at: Timestamp)
    /// It was refused for so long that these outcomes are left out. They can be replayed.
    case skip

    /// An answer that refuses a request for good is asked for again for so long: somebody may correct the address or the secret.
    static let refusalLimit = Duration.seconds(24 * 3600)

    /// - Parameters:
    ///   - verdict: nil when there was no answer.
    ///   - failures: of this request, this one included.
    ///   - failingSince: when the first of them was.
    static func next(
        _ verdict: ResponseVerdict?,
        failures: Int,
        failingSince: Timestamp,
        now: Timestamp,
        jitter: Double
    ) -> OutcomeWebhookDecision {
        func retry(after wait: Duration?) -> OutcomeWebhookDecision {
            .retry(at: now + OutboundBackoff.wait(failures: failures, retryAfter: wait, jitter: jitter))
        }
        switch verdict {
        case .delivered: return .delivered
        case .retry(let wait): return retry(after: wait)
        case nil: return retry(after: nil)
        case .deadLettered: return now - failingSince > refusalLimit ? .skip : retry(after: nil)
        }
    }
}
