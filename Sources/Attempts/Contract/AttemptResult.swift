package import PushContract

/// What became of one reported attempt.
package enum AttemptResult: Sendable, Equatable {
    case accepted
    case duplicate
    case advanced
    /// Nothing changed; `stored` is what stands under the id. Indirect, so that the others take eight bytes and not an attempt's room.
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
