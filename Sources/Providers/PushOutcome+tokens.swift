extension PushOutcome {
    /// Removes what may be a token from what a provider says: some answers repeat it, and no token is stored, logged or shown.
    ///
    /// A token is the one that was sent to, or whatever has the shape of one: 64 hex digits or more (APNs), 100 characters or more of
    /// letters, digits, `-`, `_` and `:` (FCM).
    package mutating func removeTokens(_ token: String) {
        providerErrorCode = providerErrorCode.map { ProviderText.code($0, token: token) }
        providerMessageId = providerMessageId.map { ProviderText.code($0, token: token) }
        detail = ProviderText.detail(detail, token: token)
    }
}
