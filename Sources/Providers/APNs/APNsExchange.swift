import HTTPClient
import Logging
import PushContract
import ServiceKit

/// Requests to APNs with one key: the provider token, its replacement if APNs calls it expired, and the answer.
struct APNsExchange: Sendable {
    let client: HTTP2Client
    let tokens: APNsTokens
    let keyId: String
    let logger: Logger

    /// The result of one request. `response` is nil if there was no answer.
    struct Reply: Sendable {
        var outcome: PushOutcome
        var response: OutboundResponse?
    }

    /// Makes the request, and retries it once on a new connection if APNs refused the provider token; a refused request is not delivered.
    /// - Parameter request: Builds the request from the provider token.
    func perform(now: Timestamp, _ request: (_ providerToken: String) -> OutboundRequest) async -> Reply {
        do {
            let token = try await tokens.token(now: now)
            let first = await exchange(request(token), now: now)
            switch first.outcome.providerErrorCode {
            case "ExpiredProviderToken":
                logger.warning("APNs calls the provider token expired; is this machine's clock right?", metadata: ["key": "\(keyId)"])
                guard let other = try await tokens.replacement(for: token, now: now) else { return clockFault(first, now: now) }
                return await again(request(other), after: first, now: now)
            case "UnrelatedKeyIdInToken":
                // The connection is bound to another key; a new one will be bound to ours.
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

    /// A young token that APNs calls expired: no token helps until a clock is corrected, so it counts as a refused credential.
    private func clockFault(_ reply: Reply, now: Timestamp) -> Reply {
        var reply = reply
        reply.outcome.retryClass = .afterFix
        reply.outcome.refusalScope = .credential
        let difference = reply.outcome.providerTime.map { "; APNs' clock is \(Int(($0 - now).inSeconds)) s ahead of ours" } ?? ""
        reply.outcome.detail += " The token is young: this machine's clock is wrong\(difference)."
        return reply
    }

    /// The second and last request, on a new connection: APNs keeps refusing on a connection where it refused a token.
    private func again(_ request: OutboundRequest, after first: Reply, now: Timestamp) async -> Reply {
        var request = request
        request.avoidedConnection = first.response?.connectionId
        var reply = await exchange(request, now: now)
        // Refused on another connection too: a third request would not help.
        if reply.outcome.providerErrorCode == first.outcome.providerErrorCode { reply.outcome.retryClass = .afterFix }
        return reply
    }

    private func exchange(_ request: OutboundRequest, now: Timestamp) async -> Reply {
        do throws(OutboundFailure) {
            let response = try await client.send(request)
            var outcome = APNsResponse(response, now: now).outcome(latency: response.latency)
            outcome.responseTime = response.responseTime
            outcome.providerDate = response.header("date")
            return Reply(outcome: outcome, response: response)
        } catch {
            return Reply(outcome: .notSent(error), response: nil)
        }
    }
}
