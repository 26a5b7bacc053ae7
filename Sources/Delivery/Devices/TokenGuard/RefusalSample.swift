/// What one outcome says about tokens in general. Outages, throttling and refused credentials say nothing, and are none.
package struct RefusalSample: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The push was taken.
        case good
        /// Refused because of the token, for a reason that may be the configuration's fault.
        case ambiguous
        /// Refused because the token is gone.
        case gone
    }

    package var scope: CredentialScope
    package var kind: Kind

    package init(_ kind: Kind, at scope: CredentialScope) {
        self.kind = kind
        self.scope = scope
    }
}
