import PushContract

/// Subjects whose followers' activities are still to be made, or to be ended, and how far that is. They take turns, a portion of followers
/// each, so that a large following keeps no other subject from starting or ending. Pure.
struct ActivityPortions: Sendable {
    /// Why all activities of a subject end.
    enum End: Sendable, Hashable {
        case over, day, silent
    }

    enum Step: Sendable, Hashable {
        /// Subjects, each with the last follower who was looked at.
        case create([String: String])
        case end(String, End)
    }

    /// Subjects whose followers are looked at in one statement, which share its portion.
    private static let subjectsTogether = 50

    private var creating: [(subject: String, userId: String)] = []
    private var ending: [(subject: String, end: End)] = []
    private var isEndNext = false

    var isEmpty: Bool { creating.isEmpty && ending.isEmpty }

    /// All followers of a subject are to be looked at.
    ///
    /// - Parameter isFirst: they wait for their first start.
    mutating func create(_ subject: String, isFirst: Bool = false) {
        guard !creating.contains(where: { $0.subject == subject }) else { return }
        creating.insert((subject, ""), at: isFirst ? 0 : creating.count)
    }

    mutating func end(_ subject: String, _ end: End) {
        guard !ending.contains(where: { $0 == (subject, end) }) else { return }
        ending.append((subject, end))
    }

    /// What another instance leases now is left to it.
    mutating func forget(_ subject: String) {
        creating.removeAll { $0.subject == subject }
        ending.removeAll { $0.subject == subject }
    }

    /// The next step, ends and starts in turn; what of it is left comes back with `add`.
    mutating func next() -> Step? {
        guard !isEmpty else { return nil }
        isEndNext = !ending.isEmpty && (isEndNext || creating.isEmpty)
        defer { isEndNext.toggle() }
        guard isEndNext else {
            let first = creating.prefix(Self.subjectsTogether)
            creating.removeFirst(first.count)
            return .create(Dictionary(uniqueKeysWithValues: first.map { ($0.subject, $0.userId) }))
        }
        let first = ending.removeFirst()
        return .end(first.subject, first.end)
    }

    mutating func add(_ step: Step) {
        switch step {
        case .create(let left):
            let known = Set(creating.map(\.subject))
            creating += left.filter { !known.contains($0.key) }.map { ($0.key, $0.value) }
        case .end(let subject, let end): self.end(subject, end)
        }
    }
}
