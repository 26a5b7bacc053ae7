import PushContract

/// The provider token of a key, shared by all its requests.
actor APNsTokens {
    private let key: APNsSigningKey
    private var current: (token: String, issuedAt: Timestamp)?

    init(key: APNsSigningKey) { self.key = key }

    /// The token to use now; renewed within Apple's limits.
    func token(now: Timestamp) async throws -> String {
        if let current, APNsTokenAge.isUsable(issuedAt: current.issuedAt, now: now) { return current.token }
        return try await renewed(now: now)
    }

    /// A new token in place of the one that APNs called expired; nil if it is too early for a new one.
    func replacement(for refused: String, now: Timestamp) async throws -> String? {
        guard let current else { return try await renewed(now: now) }
        if current.token != refused { return current.token }
        return APNsTokenAge.mayReplace(issuedAt: current.issuedAt, now: now) ? try await renewed(now: now) : nil
    }

    private func renewed(now: Timestamp) async throws -> String {
        let before = current?.token
        let token = try await key.token(now: now)
        // Another caller may have finished first while this one was signed: its token is used, so that there is only one.
        if let current, current.token != before { return current.token }
        current = (token, now)
        return token
    }
}
