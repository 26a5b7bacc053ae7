/// Divides the slots for requests among credentials: each that is active has some guaranteed, and the rest is lent.
enum SlotDivision {
    /// The current use of one credential.
    struct Share: Sendable, Hashable {
        /// Requests under way.
        var inFlight: Int
        /// Nothing is lent to it: its oldest unanswered request is over `slow` old.
        var isSlow: Bool
        /// Its adaptive limit.
        var limit: Int
    }

    /// A credential whose oldest unanswered request is older borrows nothing.
    static let slow = Duration.seconds(1)

    /// How many requests each may have under way now. The guaranteed slots of the others are never lent; a credential that becomes active
    /// while they are gets its own at once, above `capacity` for as long as the borrowers need.
    static func capacities<Key: Hashable>(of active: [Key: Share], capacity: Int) -> [Key: Int] {
        guard !active.isEmpty else { return [:] }
        let reserved = max(1, capacity / (2 * active.count))
        let borrowed = active.values.reduce(0) { $0 + max(0, $1.inFlight - reserved) }
        let spare = max(0, capacity - reserved * active.count - borrowed)
        return active.mapValues { share in
            let own = max(reserved, share.isSlow ? 0 : max(reserved, share.inFlight) + spare)
            return min(own, share.limit)
        }
    }
}
