package import Audit
package import Postgres
package import PushContract

/// Removes what a feature above keeps of a user, in the transaction in which the user is erased.
package typealias ErasureHandler = @Sendable (_ userId: String, _ connection: BlockingConnection, _ now: Timestamp) throws -> Void

extension DeviceStore {
    /// Removes what is kept of a user: devices and tokens, memberships of audiences, deliveries that wait and the outcomes of those that
    /// ended, and what other features keep. Attempts stay, with the uid and hashes of tokens.
    ///
    /// A delivery that is being sent at this moment keeps its outcome. The audit gets an entry.
    package func erase(userId: String, requestId: String, recording audit: AuditRecorder) async throws {
        let now = audit.now
        try await transaction { [self] connection in
            let devices = try remove("d.userId = \(userId)", requestId: requestId, on: connection, now: now)
            try onErasure(userId, connection, now)
            try SendErasure.erase(userId, on: connection)
            try connection.execute("DELETE FROM audienceMembers WHERE uid = \(userId)")
            try connection.execute("DELETE FROM tokenDeactivations WHERE userId = \(userId)")
            try audit.note(.eraseUser, userId, before: ["devices": devices], on: connection)
        }
    }
}
