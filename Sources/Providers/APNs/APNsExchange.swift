import HTTPClient
import Logging
import PushContract
import ServiceKit

/// Requests to APNs with one key: the provider token, its replacement if APNs calls it expired, the answer, and the repetition of a request
/// whose refusal may be that of its connection alone.
struct APNsExchange: Sendable {
    let client: HTTP2Client
    let tokens: APNsTokens
    let keyId: String
    let trustedConnectionAge: Duration
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

    /// Makes the request, and once more on a younger connection if that may help; a refused request is not delivered.
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
        guard let moment = newerConnection(after: first) else { return first }
        request.connectionOpenedAfter = moment
        return await repeated(request, token, refusedBy: first, within: time, now: now)
    }

    private func newerConnection(after reply: Reply) -> ContinuousClock.Instant? {
        guard let code = reply.outcome.providerErrorCode, let opened = reply.response?.connectionOpened else { return nil }
        return APNsRepeatRule.connectionOpenedAfter(code, refusedOn: opened, trustedAge: trustedConnectionAge, now: .now)
    }

    /// The second and last request, with another provider token if the first one may be replaced.
    @inline(never)
    private func repeated(
        _ request: OutboundRequest,
        _ token: String,
        refusedBy first: Reply,
        within time: AttemptTime,
        now: Timestamp
    ) async -> Reply {
        guard let left = time.left else { return first }
        var request = request
        request.timeout = left
        guard first.isTokenExpired else { return await again(request, after: first, now: now) }
        logger.warning("APNs calls the provider token expired; is this machine's clock right?", metadata: ["key": "\(keyId)"])
        do {
            let other = try await tokens.replacement(for: token, now: now)
            if let other { request.authorize(other) }
            let second = await again(request, after: first, now: now)
            return other == nil && second.isTokenExpired ? clockFault(second, now: now) : second
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

    /// A young token that APNs calls expired on two connections: no token helps until a clock is corrected, so it counts as a refused
    /// credential.
    private func clockFault(_ reply: Reply, now: Timestamp) -> Reply {
        var outcome = reply.outcome
        outcome.retryClass = .afterFix
        outcome.refusalScope = .credential
        let difference = outcome.providerTime.map { "; APNs' clock is \(Int(($0 - now).inSeconds)) s ahead of ours" } ?? ""
        outcome.detail += " The token is young: this machine's clock is wrong\(difference)."
        return Reply(outcome: outcome, response: reply.response)
    }

    private func again(_ request: OutboundRequest, after first: Reply, now: Timestamp) async -> Reply {
        let reply = await exchange(request, now: now)
        guard reply.outcome.providerErrorCode == first.outcome.providerErrorCode else { return reply }
        // Refused on another connection too: a third request would not help.
        var outcome = reply.outcome
        outcome.retryClass = .afterFix
        return Reply(outcome: outcome, response: reply.response)
    }

    private func exchange(_ request: OutboundRequest, now: Timestamp) async -> Reply {
        do throws(OutboundFailure) {
            return Self.read(try await client.send(request), of: request, now: now)
        } catch {
            return Reply(outcome: .notSent(error))
        }
    }

    @inline(never)
    private static func read(_ response: OutboundResponse, of request: OutboundRequest, now: Timestamp) -> Reply {
        var outcome = APNsResponse(response, now: now).outcome(latency: response.latency)
        if let id = outcome.providerMessageId { outcome.hasDerivedMessageId = id == request.headers["apns-id"] }
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
}
