import PushContract

/// The bearer tokens the token endpoint has issued and not yet forgotten.
struct AccessTokens: Sendable {
    private var issued: [String: Grant] = [:]

    struct Grant: Sendable, Hashable {
        let clientEmail: String
        let projectId: String
        let expires: Timestamp
    }

    mutating func add(_ token: String, for account: GoogleTrustedAccount, expires: Timestamp, now: Timestamp) {
        issued = issued.filter { $0.value.expires > now }
        issued[token] = Grant(clientEmail: account.clientEmail, projectId: account.projectId, expires: expires)
    }

    /// Who holds a token; nil when it is unknown or past its time.
    func holder(of token: String, now: Timestamp) -> Grant? {
        issued[token].flatMap { $0.expires > now ? $0 : nil }
    }

    mutating func removeAll() {
        issued = [:]
    }
}
