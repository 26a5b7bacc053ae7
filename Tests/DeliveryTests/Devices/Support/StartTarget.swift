import Delivery
import Postgres
import PushContract

/// A device on which a Live Activity can be started by a push.
struct StartTarget: Sendable {
    var userId: String
    var deviceId: String
    var app: String
    var token: PushToken
    /// The registration of the start token; a refusal counts only against the one it was made with.
    var version: Int64
    var state: TokenState

    /// All of these users, in a stable order.
    ///
    /// - Parameters:
    ///   - type: of the activities; "": any that no start token is registered for.
    ///   - app: only devices of this app.
    static func all(
        of users: [String],
        type: String = "",
        app: String? = nil,
        in pool: PostgresPool,
        cipher: TokenCipher,
        now: Timestamp
    ) async throws -> [StartTarget] {
        try await pool.query(
            """
            SELECT d.userId, d.deviceId, d.app, s.token, s.hash, s.version, s.state FROM devices d \(StartTargets.token(for: "\(type)"))
            WHERE d.userId = ANY(\(users)) AND (\(app)::text IS NULL OR d.app = \(app)) AND \(StartTargets.usable(at: now))
            ORDER BY d.userId, d.deviceId
            """
        ).map { row in
            let values = try row.decode((String, String, String, String, String, Int64, String).self)
            return StartTarget(
                userId: values.0,
                deviceId: values.1,
                app: values.2,
                token: try cipher.decrypt(values.3, as: .pushToStart, hash: try stored(values.4)),
                version: values.5,
                state: try stored(values.6)
            )
        }
    }
}
