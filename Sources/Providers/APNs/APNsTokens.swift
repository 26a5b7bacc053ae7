import PushContract
import Synchronization

/// The provider token of a key, shared by all its requests. No actor, as each request would have to be scheduled on it.
final class APNsTokens: Sendable {
    private let key: APNsSigningKey
    private let current = Mutex<(token: String, issuedAt: Timestamp)?>(nil)

    init(key: APNsSigningKey) { self.key = key }

    /// The token to use now; renewed within Apple's limits.
    func token(now: Timestamp) async throws -> String {
        if let current = current.withLock({ $0 }), APNsTokenAge.isUsable(issuedAt: current.issuedAt, now: now) { return current.token }
        return try await renewed(now: now)
    }

    /// A new token in place of the one that APNs called expired; nil if it is too early for a new one.
    func replacement(for refused: String, now: Timestamp) async throws -> String? {
        guard let current = current.withLock({ $0 }) else { return try await renewed(now: now) }
        if current.token != refused { return current.token }
        return APNsTokenAge.mayReplace(issuedAt: current.issuedAt, now: now) ? try await renewed(now: now) : nil
    }

    private func renewed(now: Timestamp) async throws -> String {
        let before = current.withLock { $0?.token }
        let token = try await key.token(now: now)
        // Another caller may have finished first while this one was signed: its token is used, so that there is only one.
        return current.withLock { current in
            if let current, current.token != before { return current.token }
            current = (token, now)
            return token
        }
    }
}
