package import PushContract

/// A running process of the service, as it last reported itself.
package struct Instance: Sendable, Hashable, Codable {
    /// A credential that the process has loaded.
    package struct Credential: Sendable, Hashable, Codable {
        /// As it is configured.
        package var name: String
        /// Changes with the key; not a secret.
        package var id: String
        package var provider: Provider
        /// Why the newest of its files is not in use; nil when it is.
        package var fault: String?
        /// When the provider last accepted it for a push of this process; a push that was rejected for its token alone counts.
        package var acceptedAt: Timestamp?

        package init(name: String, id: String, provider: Provider, fault: String? = nil, acceptedAt: Timestamp? = nil) {
            self.name = name
            self.id = id
            self.provider = provider
            self.fault = fault
            self.acceptedAt = acceptedAt
        }
    }

    /// A UUID; another one after a restart.
    package var instance: String
    package var host: String
    package var version: String
    package var startedAt: Timestamp
    package var roles: [String]
    package var credentials: [Credential]
    /// Ids of its keys for push tokens, the one that it encrypts with first.
    package var tokenKeys: [String]
    /// How far its clock is ahead of the database's.
    package var clockAheadSeconds: Double
    package var seenAt: Timestamp

    package init(
        instance: String,
        host: String,
        version: String,
        startedAt: Timestamp,
        roles: [String],
        credentials: [Credential],
        tokenKeys: [String] = [],
        clockAheadSeconds: Double = 0,
        seenAt: Timestamp
    ) {
        self.instance = instance
        self.host = host
        self.version = version
        self.startedAt = startedAt
        self.roles = roles
        self.credentials = credentials
        self.tokenKeys = tokenKeys
        self.clockAheadSeconds = clockAheadSeconds
        self.seenAt = seenAt
    }

    /// For people.
    package var name: String { "\(host) \(instance.prefix(8).lowercased())" }
    /// `agrees`, `2.3 s ahead` or `2.3 s behind`: against the database's.
    package var clockText: String {
        let tenths = (abs(clockAheadSeconds) * 10).rounded() / 10
        return tenths < 1 ? "agrees" : "\(tenths) s \(clockAheadSeconds > 0 ? "ahead" : "behind")"
    }
    /// Why what other keys encrypted may not be encrypted with this key alone yet; nil where it may.
    package func rotationFault(_ keyId: String) -> String? {
        guard usesCredentials, let current = tokenKeys.first, current != keyId else { return nil }
        return tokenKeys.contains(keyId) ? "\(name) encrypts with \(current)" : "\(name) does not have it"
    }
    /// Whether it uses its credentials, to push or to know which apps can be sent to, and its keys for push tokens.
    var usesCredentials: Bool { !Set(roles).isDisjoint(with: ["api", "send", "live"]) }
}
