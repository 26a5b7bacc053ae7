package import PushContract

/// Too many tokens of a place were refused: nothing of it is deactivated until somebody releases or undoes it.
package struct DeactivationLimiter: Sendable, Hashable {
    package var id: Int64
    package var scope: CredentialScope
    package var openedAt: Timestamp
    /// The outcomes that opened it.
    package var counts: DeactivationDecision.Counts
    /// The code of the refusal that opened it.
    package var cause: String
    /// Tokens that were deferred instead of deactivated, and those deactivated shortly before.
    package var deferred: Int64
    package var deactivated: Int64
}
