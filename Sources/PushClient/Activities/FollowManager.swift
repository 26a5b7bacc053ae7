/// The matches and other subjects that the user follows, shown immediately: stored on the device, confirmed through the queue, and compared
/// with the server's list. A value.
public struct FollowManager: Codable, Sendable, Hashable {
    /// The followed subjects.
    public private(set) var subjects: Set<ActivitySubject> = []
    /// Those that the server has, as far as it has said.
    private var confirmed: Set<ActivitySubject> = []

    /// Nothing is followed.
    public init() {}

    /// The user follows a subject. Returns whether that is new.
    public mutating func follow(_ subject: ActivitySubject) -> Bool { subjects.insert(subject).inserted }

    /// The user stops following a subject, or dismissed its activity.
    public mutating func unfollow(_ subject: ActivitySubject) { subjects.remove(subject) }

    /// The server confirmed an operation.
    public mutating func confirmed(_ kind: OperationKind) {
        switch kind {
        case .follow(let subject, _):
            subjects.insert(subject)
            confirmed.insert(subject)
        case .unfollow(let subject):
            subjects.remove(subject)
            confirmed.remove(subject)
        default: break
        }
    }

    /// The server refused an operation, or the user discarded it: what the server has is unchanged.
    public mutating func refused(_ kind: OperationKind) {
        guard let subject = kind.followedSubject else { return }
        if confirmed.contains(subject) { subjects.insert(subject) } else { subjects.remove(subject) }
    }

    /// Takes over the server's list, except for what the user changed and the server does not know yet.
    ///
    /// - Parameter operations: The user's unconfirmed operations, oldest first.
    public mutating func readBack(_ list: some Sequence<ActivitySubject>, unconfirmed operations: [PendingOperation]) {
        subjects = Set(list)
        confirmed = subjects
        for operation in operations where operation.state != .needsAttention {
            switch operation.kind {
            case .follow(let subject, _): subjects.insert(subject)
            case .unfollow(let subject), .dismissal(let subject, _, .user): subjects.remove(subject)
            default: break
            }
        }
    }

    /// Sign-out.
    public mutating func clear() { self = FollowManager() }
}
