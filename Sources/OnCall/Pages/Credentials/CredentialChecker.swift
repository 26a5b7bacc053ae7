/// The credentials of this instance, for pages.
package struct CredentialChecker: Sendable {
    /// Their states, without a request to a provider.
    package var states: @Sendable () async -> [CredentialState]
    /// Checks each with a push to a token that does not exist, which takes as long as the providers take to answer. Throws when the
    /// configuration cannot be read.
    package var check: @Sendable () async throws -> [CredentialCheckResult]

    package init(
        states: @escaping @Sendable () async -> [CredentialState],
        check: @escaping @Sendable () async throws -> [CredentialCheckResult]
    ) {
        self.states = states
        self.check = check
    }
}
