import PushContract
import Synchronization

/// The provider token of a key, shared by all its requests. No actor, as each request would have to be scheduled on it.
final class APNsTokens: Sendable {
    private struct Token {
        var text: String
        var issuedAt: Timestamp
        var signedAt: ContinuousClock.Instant
    }

    private let key: APNsSigningKey
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let current = Mutex<Token?>(nil)

    init(key: APNsSigningKey, clock: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.key = key
        self.clock = clock
    }

    /// The token to use now; renewed within Apple's limits.
    func token(now: Timestamp) async throws -> String {
        if let current = current.withLock({ $0 }), age(current, now: now).isUsable { return current.text }
        return try await renewed(now: now)
    }

    /// A new token in place of the one that APNs called expired; nil if it is too early for a new one.
    func replacement(for refused: String, now: Timestamp) async throws -> String? {
        guard let current = current.withLock({ $0 }) else { return try await renewed(now: now) }
        if current.text != refused { return current.text }
        return age(current, now: now).mayReplace ? try await renewed(now: now) : nil
    }

    private func age(_ token: Token, now: Timestamp) -> APNsTokenAge {
        APNsTokenAge(byIssue: now - token.issuedAt, elapsed: clock() - token.signedAt)
    }

    private func renewed(now: Timestamp) async throws -> String {
        let before = current.withLock { $0?.text }
        let token = try await key.token(now: now)
        // Another caller may have finished first while this one was signed: its token is used, so that there is only one.
        return current.withLock { current in
            if let current, current.text != before { return current.text }
            current = Token(text: token, issuedAt: now, signedAt: clock())
            return token
        }
    }
}
