package import Postgres
package import PushContract

/// Applies token feedback to start tokens: by the rules of `DeviceTokens`, and never to a device's other tokens.
package enum StartTokens {
    /// Applies the feedback; the places of those that deactivated a start token.
    ///
    /// `registrationVersion` is the registration that the start was made with: a device that registered a start token anew meanwhile keeps
    /// it. With the provider's time (a 410's) it counts against a registration up to that time. A deactivated token is deleted; its hash
    /// stays.
    ///
    /// - Parameter deferred: by the place of the feedback, the limiter that defers the deactivation.
    package static func apply(
        _ feedbackBatch: [TokenFeedback],
        deferred: [Int: Int64] = [:],
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Set<Int> {
        var off: Set<Int> = []
        let batch = FeedbackByVerdict(feedbackBatch, deferred: deferred)
        // A token is in one of the tables, and is found by its hash.
        for table in StartTokenTable.all {
            if !batch.off.isEmpty {
                for row in try connection.query(table.deactivate(batch.off, now: now)) { off.insert(try row.decode(Int.self)) }
            }
            if !batch.suspect.isEmpty {
                for row in try connection.query(table.suspect(batch.suspect, now: now)) {
                    let (index, state) = try row.decode((Int, String).self)
                    if state == TokenState.inactive.rawValue { off.insert(index) }
                }
            }
            if !batch.deferred.isEmpty { try connection.execute(table.deferDeactivation(batch.deferred, now: now)) }
            if !batch.valid.isEmpty { try connection.execute(table.clear(batch.valid, now: now)) }
        }
        return off
    }
}
