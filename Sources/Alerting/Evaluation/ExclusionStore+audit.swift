package import HTTPServer
package import Postgres
package import PushContract

extension ExclusionStore {
    /// Excludes a period, with an entry in the audit.
    package static func add(_ time: ExcludedTime, recording audit: AuditRecorder, on pool: PostgresPool) async throws {
        try await add(time, on: pool)
        try await audit.note(.addExclusion, time.from.rfc3339, time.reason, after: ExclusionDocument(time))
    }

    /// Includes the periods again that begin at `from`, one entry in the audit for each; how many there were.
    package static func remove(from: Timestamp, recording audit: AuditRecorder, on pool: PostgresPool) async throws -> Int {
        let excluded = try await all(on: pool).filter { $0.from == from }
        let count = try await remove(from: from, on: pool)
        for time in excluded { try await audit.note(.removeExclusion, time.from.rfc3339, time.reason, before: ExclusionDocument(time)) }
        return count
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
