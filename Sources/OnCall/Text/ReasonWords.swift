import PushContract

/// Reason codes in words.
enum ReasonWords {
    /// Completes: *the push failed: …*
    static func why(_ reason: ReasonCode) -> String {
        switch reason {
        case .tokenInvalid: "the token is not valid for this app and environment"
        case .tokenNotRegistered: "the token is no longer registered; the app was removed, or has a newer token"
        case .provider5xx: "the provider had a failure of its own"
        case .network: "the provider could not be reached, or did not answer"
        case .auth: "the provider refuses our credentials or topic"
        case .unknown: "the provider refused it"
        }
    }
}
