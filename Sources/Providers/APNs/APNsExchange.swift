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

    /// The result of one request, by reference. `response` is nil if there was no answer.
    final class Reply: Sendable {
        let outcome: PushOutcome
        let response: OutboundResponse?

        init(outcome: PushOutcome, response: OutboundResponse? = nil) {
            self.outcome = outcome
            self.response = response
        }
    }

    /// Makes the request, and retries it once on a new connection if APNs refused the provider token; a refused request is not delivered.
    /// - Parameter request: Gets its provider token here.
    func perform(_ request: consuming OutboundRequest, now: Timestamp) async -> Reply {
        let token: String
        do {
            token = try await tokens.token(now: now)
        } catch {
            return Self.notSigned(error)
        }
        request.authorize(token)
        let time = AttemptTime(request.timeout)
        let first = await exchange(request, now: now)
        return first.isTokenRefused ? await repeated(request, token, refusedBy: first, within: time, now: now) : first
    }

    /// A second request with another token, or on another connection, if that may help.
    @inline(never)
    private func repeated(
        _ request: OutboundRequest,
        _ token: String,
        refusedBy first: Reply,
        within time: AttemptTime,
        now: Timestamp
    ) async -> Reply {
        // A connection that is bound to another key; a new one will be bound to ours.
        guard first.isTokenExpired else { return await again(request, after: first, within: time, now: now) }
        logger.warning("APNs calls the provider token expired; is this machine's clock right?", metadata: ["key": "\(keyId)"])
        do {
            guard let other = try await tokens.replacement(for: token, now: now) else { return clockFault(first, now: now) }
            var request = request
            request.authorize(other)
            return await again(request, after: first, within: time, now: now)
        } catch {
            return Self.notSigned(error)
        }
    }

    @inline(never)
    private static func notSigned(_ error: any Error) -> Reply {
        let outcome = PushOutcome.failed(
            Classification(.auth, retry: .afterFix),
            detail: "The provider token could not be signed: \(error)"
        )
        return Reply(outcome: outcome)
    }

    /// A young token that APNs calls expired: no token helps until a clock is corrected, so it counts as a refused credential.
    private func clockFault(_ reply: Reply, now: Timestamp) -> Reply {
        var outcome = reply.outcome
        outcome.retryClass = .afterFix
        outcome.refusalScope = .credential
        let difference = outcome.providerTime.map { "; APNs' clock is \(Int(($0 - now).inSeconds)) s ahead of ours" } ?? ""
        outcome.detail += " The token is young: this machine's clock is wrong\(difference)."
        return Reply(outcome: outcome, response: reply.response)
    }

    /// The second and last request, on a new connection: APNs keeps refusing on a connection where it refused a token.
    private func again(_ request: OutboundRequest, after first: Reply, within time: AttemptTime, now: Timestamp) async -> Reply {
        guard let left = time.left else { return first }
        var request = request
        request.timeout = left
        request.avoidedConnection = first.response?.connectionId
        let reply = await exchange(request, now: now)
        guard reply.outcome.providerErrorCode == first.outcome.providerErrorCode else { return reply }
        // Refused on another connection too: a third request would not help.
        var outcome = reply.outcome
        outcome.retryClass = .afterFix
        return Reply(outcome: outcome, response: reply.response)
    }

    private func exchange(_ request: OutboundRequest, now: Timestamp) async -> Reply {
        do throws(OutboundFailure) {
            return Self.read(try await client.send(request), now: now)
        } catch {
            return Reply(outcome: .notSent(error))
        }
    }

    @inline(never)
    private static func read(_ response: OutboundResponse, now: Timestamp) -> Reply {
        var outcome = APNsResponse(response, now: now).outcome(latency: response.latency)
        outcome.responseTime = response.responseTime
        outcome.providerDate = response.header("date")
        return Reply(outcome: outcome, response: response)
    }
}

extension OutboundRequest {
    fileprivate mutating func authorize(_ providerToken: String) { headers.set("authorization", "bearer \(providerToken)") }
}

extension APNsExchange.Reply {
    fileprivate var isTokenExpired: Bool { outcome.providerErrorCode == "ExpiredProviderToken" }
    fileprivate var isTokenRefused: Bool { isTokenExpired || outcome.providerErrorCode == "UnrelatedKeyIdInToken" }
}
