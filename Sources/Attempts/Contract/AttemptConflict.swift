import PushContract

/// Why a report was not stored under an attemptId that is known, and what to do about it.
enum AttemptConflict {
    static func detail(_ reported: Attempt, stored: Attempt?) -> String {
        guard let stored else { return "another attempt is stored under this attemptId; give a new attempt a new attemptId" }
        let fields = differences(reported, stored)
        guard fields.isEmpty else {
            return "another attempt is stored under this attemptId, with another \(fields.joined(separator: ", ")); "
                + "give a new attempt a new attemptId"
        }
        guard reported.status.rank <= stored.status.rank else {
            return "the attempt is stored as `\(stored.status)`, and its day by columns, so it no longer becomes `\(reported.status)`; "
                + "what is stored stays (docs/citus.md#columnar-storage-for-old-days)"
        }
        return "the attempt is stored as `\(stored.status)` and cannot become `\(reported.status)`; give a new attempt a new attemptId"
    }

    /// Of what the fingerprint is a digest of.
    private static func differences(_ reported: Attempt, _ stored: Attempt) -> [String] {
        let fields: [(name: String, isSame: Bool)] = [
            ("uid", ExactText(reported.uid) == ExactText(stored.uid)), ("platform", reported.platform == stored.platform),
            ("provider", reported.provider == stored.provider), ("tokenHash", reported.tokenHash == stored.tokenHash),
            ("eventType", reported.eventType == stored.eventType),
            ("requestId", ExactText(reported.requestId) == ExactText(stored.requestId)),
        ]
        return fields.filter { !$0.isSame }.map(\.name)
    }
}
