import PushContract

/// The state of the access token. Pure: every decision takes `now`.
struct FCMTokenState: Sendable {
    enum Step: Sendable, Hashable {
        case use(String)
        /// Still valid, and due to be renewed.
        case useAndRenew(String)
        case renew
        /// Google refused recently; fail with the same outcome.
        case fail(PushOutcome)
    }

    /// A token is renewed this long before it expires.
    static let ahead = Duration.seconds(300)
    /// The pause after a refusal, or as long as Google asked, up to a minute.
    static let pause = Duration.seconds(5)
    static let longestPause = Duration.seconds(60)

    private var token: String?
    private var expiresAt = Timestamp(microseconds: 0)
    private var failure: (outcome: PushOutcome, at: Timestamp)?

    func step(now: Timestamp) -> Step {
        let paused = failure.flatMap { Self.isPaused(after: $0.outcome, at: $0.at, now: now) ? $0.outcome : nil }
        guard let token, now < expiresAt else { return paused.map(Step.fail) ?? .renew }
        if expiresAt - now > FCMTokenState.ahead || paused != nil { return .use(token) }
        return .useAndRenew(token)
    }

    mutating func issued(_ token: String, lifetime: Duration, now: Timestamp) {
        self.token = token
        expiresAt = now + lifetime
        failure = nil
    }

    /// The old token stays in use until it expires.
    mutating func failed(_ outcome: PushOutcome, now: Timestamp) {
        failure = (outcome, now)
    }

    /// By the distance in either direction: a clock that was ahead and is set back does not prolong the pause, and who waited for a renewal
    /// with an earlier `now` does not repeat it.
    private static func isPaused(after outcome: PushOutcome, at failedAt: Timestamp, now: Timestamp) -> Bool {
        max(now - failedAt, failedAt - now) < min(max(pause, outcome.retryAfter ?? .zero), longestPause)
    }

    /// FCM refused this token; ignored if the token was replaced already.
    mutating func discard(_ refused: String) {
        if token == refused { token = nil }
    }
}
