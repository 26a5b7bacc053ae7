import HTTPClient
import Logging
import PushContract
package import ServiceKit

/// Requests to APNs under one key: the provider token, its replacement when APNs calls it expired, and the answer.
struct APNsExchange: Sendable {
    let client: CurlClient
    let tokens: APNsTokens
    let keyId: String
    let logger: Logger

    /// What one request came to. `response` is nil when there was none.
    struct Reply: Sendable {
        var outcome: PushOutcome
        var response: OutboundResponse?
    }

    /// Makes the request; once more on a new connection when APNs refused the provider token, of which no push can come twice.
    /// - Parameter request: the request, given the provider token.
    func perform(now: Timestamp, _ request: (_ providerToken: String) -> OutboundRequest) async -> Reply {
        do {
            let token = try await tokens.token(now: now)
            let first = await exchange(request(token), now: now)
            switch first.outcome.providerErrorCode {
            case "ExpiredProviderToken":
                logger.warning("APNs calls the provider token expired; is this machine's clock right?", metadata: ["key": "\(keyId)"])
                guard let other = try await tokens.replacement(for: token, now: now) else { return first }
                return await again(request(other), after: first, now: now)
            case "UnrelatedKeyIdInToken":
                // The connection belongs to another key; a new one will belong to ours.
                return await again(request(token), after: first, now: now)
            default: return first
            }
        } catch {
            let outcome = PushOutcome.failed(
                Classification(.auth, retry: .afterFix),
                detail: "The provider token could not be signed: \(error)"
            )
            return Reply(outcome: outcome, response: nil)
        }
    }

    /// The second and last try, on a connection of its own: APNs goes on refusing on one it has refused a token on.
    private func again(_ request: OutboundRequest, after first: Reply, now: Timestamp) async -> Reply {
        var request = request
        request.avoidedConnection = first.response?.connectionId
        var reply = await exchange(request, now: now)
        // Refused on another connection too: one more would not help.
        if reply.outcome.providerErrorCode == first.outcome.providerErrorCode { reply.outcome.retryClass = .afterFix }
        return reply
    }

    private func exchange(_ request: OutboundRequest, now: Timestamp) async -> Reply {
        do throws(OutboundFailure) {
            let response = try await client.send(request)
            var outcome = APNsResponse(response, now: now).outcome(latency: response.latency)
            outcome.providerTime = response.header("date").flatMap(RetryAfter.date)
            return Reply(outcome: outcome, response: response)
        } catch {
            return Reply(outcome: .notSent(error), response: nil)
        }
    }
}
