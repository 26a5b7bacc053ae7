import PushContract

/// The answer to `GET /live`.
struct SubjectListDocument: Encodable, Sendable {
    var subjects: [Entry]
    /// The next page's `after`.
    var next: String?

    struct Entry: Encodable, Sendable {
        var type: String
        var id: String
        /// `live` or `ended`; of a match its phase.
        var phase: String
        var live: Bool
        var startedAt: Timestamp
        var stateAt: Timestamp
        /// When its source last said that this is the state; nil without `freshFor`.
        var confirmedAt: Timestamp?
        var endedAt: Timestamp?
        var followers: Int
        /// Devices by their newest activity.
        var activities: SubjectDocument.Counts
    }
}

extension SubjectListDocument.Entry {
    init(_ line: SubjectOverviewStore.Line) {
        let subject = NamedSubject(subject: line.subject)
        self.init(
            type: subject.type,
            id: subject.id,
            phase: line.phase,
            live: line.isLive,
            startedAt: line.startedAt,
            stateAt: line.builtAt,
            confirmedAt: line.confirmedAt,
            endedAt: line.endedAt,
            followers: line.followers,
            activities: SubjectDocument.Counts(active: line.active, pending: line.pending, ended: line.ended)
        )
    }
}
