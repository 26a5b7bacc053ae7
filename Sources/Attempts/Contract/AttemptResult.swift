package import PushContract

/// The result of one reported attempt.
package enum AttemptResult: Sendable, Equatable {
    case accepted
    case duplicate
    case advanced
    /// Nothing changed; `stored` is the attempt with that id. Indirect, so that the other cases take eight bytes.
    indirect case conflict(stored: Attempt?)

    /// The contract's word.
    package var name: String {
        switch self {
        case .accepted: "accepted"
        case .duplicate: "duplicate"
        case .advanced: "advanced"
        case .conflict: "conflict"
        }
    }
}
