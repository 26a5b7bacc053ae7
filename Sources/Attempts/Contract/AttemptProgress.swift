import PushContract

/// What a report of a known or unknown attemptId means (design: "Identity and progress").
enum AttemptProgress: Equatable {
    /// New: stored.
    case accepted
    /// Adds nothing: the same or an earlier status.
    case duplicate
    /// A later status on the line queued → sent | failed → deactivated: the row moves forward.
    case advanced
    /// Other content under the same id, a move sideways, or a later status of a row that cannot change. What is stored stays.
    case conflict

    /// What the ledger stores about an id.
    struct Known: Equatable {
        var fingerprint: AttemptKey
        var status: AttemptStatus
        /// Its day is stored by columns.
        var cannotChange = false
    }

    static func of(_ known: Known?, reported: Known) -> AttemptProgress {
        guard let known else { return .accepted }
        guard known.fingerprint == reported.fingerprint else { return .conflict }
        if reported.status.rank > known.status.rank { return known.cannotChange ? .conflict : .advanced }
        if reported.status.rank < known.status.rank || reported.status == known.status { return .duplicate }
        return .conflict
    }

    /// Several reports of one id, in order, against what was known before: each one's result, and which report is to be stored.
    static func fold(_ known: Known?, _ reports: [Known]) -> (results: [AttemptProgress], stored: Int?) {
        var current = known
        var stored: Int?
        let results = reports.enumerated().map { index, report in
            let step = of(current, reported: report)
            if step == .accepted || step == .advanced {
                current = report
                stored = index
            }
            return step
        }
        return (results, stored)
    }
}
