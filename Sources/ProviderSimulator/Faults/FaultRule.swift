/// One rule of `PUT /faults`: what becomes of some of the requests the simulator would otherwise accept.
///
/// A request that breaks a provider's rule always gets that rule's answer; faults replace acceptances only.
package struct FaultRule: Sendable, Hashable, Codable {
    package var provider: SimulatedProvider
    /// The part of the matching requests it hits, 0…1. Shares of rules that match the same request add up: 0.1 and 0.05 hit
    /// 10 % and another 5 %.
    package var share: Double
    /// Only these tokens; nil: all. APNs tokens compare in lower case.
    package var tokens: Set<String>?
    /// Only tokens that begin so; nil: all.
    package var tokenPrefix: String?
    /// After so many hits the rule is used up; nil: never.
    package var times: Int?
    package var effect: FaultEffect
    /// Wait before the answer.
    package var delayMs: Int?
    /// It begins to hit so long after it was set, and stops so long after that; nil: at once, and never.
    package var afterMs: Int?
    package var lastsMs: Int?

    package init(
        provider: SimulatedProvider,
        share: Double = 1,
        tokens: Set<String>? = nil,
        tokenPrefix: String? = nil,
        times: Int? = nil,
        delayMs: Int? = nil,
        effect: FaultEffect
    ) {
        self.provider = provider
        self.share = share
        self.tokens = tokens
        self.tokenPrefix = tokenPrefix
        self.times = times
        self.delayMs = delayMs
        self.effect = effect
    }

    /// Answers with a status and reason.
    package init(
        _ provider: SimulatedProvider,
        status: Int,
        reason: String? = nil,
        share: Double = 1,
        tokens: Set<String>? = nil,
        times: Int? = nil,
        retryAfter: Int? = nil,
        timestamp: Int64? = nil,
        field: String? = nil
    ) {
        self.init(
            provider: provider,
            share: share,
            tokens: tokens,
            times: times,
            effect: .answer(.init(status: status, reason: reason, retryAfter: retryAfter, timestamp: timestamp, field: field))
        )
    }

    func matches(provider: SimulatedProvider, token: String?) -> Bool {
        guard provider == self.provider else { return false }
        if let tokens {
            guard let token, tokens.contains(token) else { return false }
        }
        if let tokenPrefix {
            guard let token, token.hasPrefix(tokenPrefix) else { return false }
        }
        return true
    }
}

/// What a rule does to a request it hits.
package enum FaultEffect: Sendable, Hashable, Codable {
    case answer(FaultResponse)
    /// An HTML page instead of the provider's JSON, as load balancers send it.
    case html(status: Int)
    /// No answer; the request stays open until the sender gives up or the simulator stops.
    case hang
    /// The connection is closed, with every other request on it.
    case reset
    /// RST_STREAM with REFUSED_STREAM: not processed, to be sent again elsewhere.
    case refuseStream
    /// RST_STREAM with CANCEL after the request was read: the outcome is unknown.
    case resetStream
    /// This request and those under way are answered; a GOAWAY forbids new ones on the connection.
    case goaway
    /// A GOAWAY that disowns every stream of the connection, this one included.
    case goawayAbrupt
    /// The head of the usual answer at once, its body after `delayMs`.
    case slowBody
    /// The usual answer, after `delayMs`.
    case delayOnly
}

/// The answer of a rule.
package struct FaultResponse: Sendable, Hashable, Codable {
    package var status: Int
    /// APNs: the reason. FCM: the FcmError code, or a bare status such as PERMISSION_DENIED. OAuth: the error.
    package var reason: String?
    /// Seconds, as a `retry-after` header.
    package var retryAfter: Int?
    /// APNs 410: since when the token is dead, milliseconds since 1970; nil: the moment of the answer.
    package var timestamp: Int64?
    /// FCM INVALID_ARGUMENT: the field at fault; nil: `message.token`; empty: none is named.
    package var field: String?
}
