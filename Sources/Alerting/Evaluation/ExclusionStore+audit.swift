package import Audit
package import Postgres
package import PushContract

extension ExclusionStore {
    /// Excludes a period, with an entry in the audit unless it is excluded already.
    package static func add(_ time: ExcludedTime, recording audit: AuditRecorder, on pool: PostgresPool) async throws {
        try await pool.withTransaction { transaction in
            guard try await add(time, in: transaction) else { return }
            try await audit.note(.addExclusion, time.from.rfc3339, time.reason, after: ExclusionDocument(time), on: transaction)
        }
    }

    /// Includes the periods again that begin at `from`, one entry in the audit for each; how many there were.
    package static func remove(from: Timestamp, recording audit: AuditRecorder, on pool: PostgresPool) async throws -> Int {
        try await pool.withTransaction { transaction in
            let removed = try await remove(from: from, in: transaction)
            for time in removed {
                try await audit.note(
                    .removeExclusion,
                    time.from.rfc3339,
                    time.reason,
                    before: ExclusionDocument(time),
                    on: transaction
                )
            }
            return removed.count
        }
    }
}

/// An excluded period, as `pushwatch exclusions` and the audit show it.
package struct ExclusionDocument: Encodable, Sendable {
    var from: Timestamp
    var to: Timestamp
    var reason: String
    var author: String

    package init(_ time: ExcludedTime) {
        (from, to, reason, author) = (time.from, time.to, time.reason, time.author)
    }
}
