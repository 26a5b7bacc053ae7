package import Audit
package import Postgres
package import PushContract

/// An Android device of a user who is erased.
package struct ErasedDevice: Sendable {
    package var deviceId: String
    package var token: PushToken
    package var provider: Provider
    package var environment: PushEnvironment
    package var app: String
}

/// Removes what a feature above keeps of a user, in the transaction in which the user is erased, before their devices go.
///
/// - Returns: what still goes to the devices, by token.
package typealias ErasureHandler =
    @Sendable (_ userId: String, _ devices: [ErasedDevice], _ connection: BlockingConnection, _ now: Timestamp) throws -> [SendRequest]

extension DeviceStore {
    /// Removes what is kept of a user: devices and tokens, memberships of audiences, deliveries that wait and the outcomes of those that
    /// ended, and what other features keep. Attempts stay, with the uid and hashes of tokens.
    ///
    /// A delivery that is being sent at this moment keeps its outcome. The audit gets an entry.
    package func erase(userId: String, requestId: String, recording audit: AuditRecorder) async throws {
        let now = audit.now
        try await transaction { [self] connection in
            let sends = try onErasure(userId, erasedDevices(of: userId, on: connection), connection, now)
            let devices = try remove("d.userId = \(userId)", requestId: requestId, on: connection, now: now)
            try SendErasure.erase(userId, on: connection)
            // To tokens that are nobody's by now, so that nothing names the user.
            for send in sends {
                _ = try SendStore.enqueue(
                    send,
                    requestId: requestId,
                    author: "pushwatch erasure",
                    cipher: cipher,
                    now: now,
                    check: { _, _ in nil },
                    on: connection
                )
            }
            try connection.execute("DELETE FROM audienceMembers WHERE uid = \(userId)")
            try connection.execute("DELETE FROM tokenDeactivations WHERE userId = \(userId)")
            try audit.note(.eraseUser, userId, before: ["devices": devices], on: connection)
        }
    }

    /// The user's devices are locked; those with Android whose token can be used and decrypted.
    private func erasedDevices(of userId: String, on connection: BlockingConnection) throws -> [ErasedDevice] {
        try connection.query(
            """
            SELECT deviceId, CASE WHEN platform = 'android' AND tokenState <> 'inactive' THEN pushToken END, pushTokenHash, provider,
                environment, app
            FROM devices WHERE userId = \(userId) ORDER BY deviceId FOR UPDATE
            """
        ).compactMap { row in
            let (deviceId, encrypted, hash, provider, environment, app) =
                try row.decode((String, String?, String, String, String, String).self)
            guard let encrypted, let token = try? cipher.decrypt(encrypted, as: .push, hash: try stored(hash)) else { return nil }
            return ErasedDevice(
                deviceId: deviceId,
                token: token,
                provider: try stored(provider),
                environment: try stored(environment),
                app: app
            )
        }
    }
}
