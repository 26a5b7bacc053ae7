import PushContract

/// The one provider token of a key, shared by all its requests.
actor APNsTokens {
    private let key: APNsSigningKey
    private var current: (token: String, issuedAt: Timestamp)?

    init(key: APNsSigningKey) { self.key = key }

    /// The token to use now; made anew in Apple's window.
    func token(now: Timestamp) async throws -> String {
        if let current, APNsTokenAge.isUsable(issuedAt: current.issuedAt, now: now) { return current.token }
        return try await renewed(now: now)
    }

    /// Another token than the one APNs called expired; nil when there may be none yet.
    func replacement(for refused: String, now: Timestamp) async throws -> String? {
        guard let current else { return try await renewed(now: now) }
        if current.token != refused { return current.token }
        return APNsTokenAge.mayReplace(issuedAt: current.issuedAt, now: now) ? try await renewed(now: now) : nil
    }

    private func renewed(now: Timestamp) async throws -> String {
        let before = current?.token
        let token = try await key.token(now: now)
        // While this one was signed another caller may have been quicker: theirs counts, so that there is one.
        if let current, current.token != before { return current.token }
        current = (token, now)
        return token
    }
}
