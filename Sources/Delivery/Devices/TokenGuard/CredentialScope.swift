package import PushContract

/// Where a credential is used: what goes wrong with its configuration goes wrong for every token of the place.
package struct CredentialScope: Sendable, Hashable {
    package var provider: Provider
    @ExactText package var app: String
    package var environment: PushEnvironment
    /// Names the credential; not a secret.
    package var credential: String

    /// In one order everywhere, as two transactions may count the same places.
    var key: String { [provider.rawValue, app, environment.rawValue, credential].joined(separator: "\n") }
}
