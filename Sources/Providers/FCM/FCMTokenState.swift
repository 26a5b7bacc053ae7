import PushContract

/// What is known about the access token. Pure: every decision takes `now`.
struct FCMTokenState: Sendable {
    enum Step: Sendable, Hashable {
        case use(String)
        /// Good still, and due to be renewed.
        case useAndRenew(String)
        case renew
        /// Google refused a moment ago; the same again.
        case fail(PushOutcome)
    }

    /// Renewed so long before its end.
    static let ahead = Duration.seconds(300)
    /// After a refusal Google is left alone for so long, or for as long as it asked up to a minute.
    static let pause = Duration.seconds(5)
    static let longestPause = Duration.seconds(60)

    private var token: String?
    private var expiresAt = Timestamp(microseconds: 0)
    private var failure: (outcome: PushOutcome, until: Timestamp)?

    func step(now: Timestamp) -> Step {
        let paused = failure.flatMap { $0.until > now ? $0.outcome : nil }
        guard let token, now < expiresAt else { return paused.map(Step.fail) ?? .renew }
        if expiresAt - now > FCMTokenState.ahead || paused != nil { return .use(token) }
        return .useAndRenew(token)
    }

    mutating func issued(_ token: String, lifetime: Duration, now: Timestamp) {
        self.token = token
        expiresAt = now + lifetime
        failure = nil
    }

    /// The old token stays while it lives.
    mutating func failed(_ outcome: PushOutcome, now: Timestamp) {
        failure = (outcome, now + min(max(FCMTokenState.pause, outcome.retryAfter ?? .zero), FCMTokenState.longestPause))
    }

    /// FCM did not take this token; nothing happens if it was replaced meanwhile.
    mutating func discard(_ refused: String) {
        if token == refused { token = nil }
    }
}
