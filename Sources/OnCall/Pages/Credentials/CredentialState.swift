package import PushContract

/// The state of one credential, without a request to its provider.
package struct CredentialState: Sendable, Hashable {
    package var name: String
    package var provider: Provider
    /// Days since the key's file was written; nil when that is not known.
    package var keyAgeDays: Int?
    /// Why the newest of its file is not in use; nil when it is.
    package var fault: String?

    package init(name: String, provider: Provider, keyAgeDays: Int? = nil, fault: String? = nil) {
        self.name = name
        self.provider = provider
        self.keyAgeDays = keyAgeDays
        self.fault = fault
    }
}

/// The provider's answer to the check of a credential.
package struct CredentialCheckResult: Sendable, Hashable {
    package var name: String
    package var environment: String
    /// `accepted`, `refused` or `unreachable`.
    package var state: String
    package var detail: String
    package var keyAgeDays: Int?
    /// How far this machine's clock is ahead of the provider's, when the provider reports its time.
    package var clockAheadSeconds: Int?

    package init(name: String, environment: String, state: String, detail: String, keyAgeDays: Int?, clockAheadSeconds: Int?) {
        self.name = name
        self.environment = environment
        self.state = state
        self.detail = detail
        self.keyAgeDays = keyAgeDays
        self.clockAheadSeconds = clockAheadSeconds
    }
}
