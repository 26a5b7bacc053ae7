/// The credentials of this instance, as the pages may look at them.
package struct CredentialChecker: Sendable {
    /// What is known without asking anybody.
    package var states: @Sendable () async -> [CredentialState]
    /// Checks each with a push to a token that does not exist; throws when the configuration cannot be read. Takes as long as the providers take to answer.
    package var check: @Sendable () async throws -> [CredentialCheckResult]

    package init(
        states: @escaping @Sendable () async -> [CredentialState],
        check: @escaping @Sendable () async throws -> [CredentialCheckResult]
    ) {
        self.states = states
        self.check = check
    }
}
