import Postgres
import PushContract

/// What an outcome says about the environment of a device's token; found by the registration the send was made with.
struct TokenEnvironment: Sendable, Hashable {
    var tokenHash: TokenHash
    var app: String
    var registrationVersion: Int64
    /// Where it was sent.
    var environment: PushEnvironment
}

/// Corrects the environment of tokens by what APNs says of them. Runs inside the caller's transaction, before feedback is applied.
enum TokenEnvironmentQueries {
    /// Sends refused as BadDeviceToken: turns those devices to the other environment that were never reached in this one and have not
    /// tried yet. The places of those that are to be tried there, which includes what another send has turned meanwhile.
    static func switchEnvironment(_ tokenEnvironments: [TokenEnvironment], on connection: BlockingConnection) throws -> Set<Int> {
        guard !tokenEnvironments.isEmpty else { return [] }
        let reached = try reached(tokenEnvironments, on: connection)
        let switched = try connection.query(
            """
            UPDATE devices d SET environmentTrial = 'trying',
                environment = CASE d.environment WHEN 'production' THEN 'sandbox' ELSE 'production' END::pushEnvironment
            FROM \(table(tokenEnvironments)) s
            WHERE \(matching) AND d.environment = s.environment AND d.environmentTrial IS NULL
              -- A token that was taken here belongs here, whatever is wrong with it now.
              AND s.index <> ALL(\(reached))
            RETURNING s.index
            """
        ).map { try $0.decode(Int.self) }
        let others = try connection.query(
            """
            SELECT s.index FROM \(table(tokenEnvironments)) s JOIN devices d ON \(matching)
            WHERE d.environment <> s.environment AND d.environmentTrial IN ('trying', 'found')
            """
        ).map { try $0.decode(Int.self) }
        return Set(switched + others)
    }

    /// Those that were taken where they were sent. Two statements, since attempts may be distributed and devices are not.
    private static func reached(_ tokenEnvironments: [TokenEnvironment], on connection: BlockingConnection) throws -> [Int] {
        let devices = try connection.query(
            "SELECT s.index, d.userId FROM \(table(tokenEnvironments)) s JOIN devices d ON \(matching) AND d.environment = s.environment"
        ).map { try $0.decode((Int, String).self) }
        guard !devices.isEmpty else { return [] }
        let sends = devices.map { tokenEnvironments[$0.0] }
        return try connection.query(
            """
            SELECT DISTINCT s.index
            FROM unnest(\(devices.map(\.0)), \(devices.map(\.1)), \(sends.map(\.tokenHash.rawValue)),
                        \(words: sends.map(\.environment.rawValue))::pushEnvironment[]) AS s (index, uid, tokenHash, environment)
            JOIN notificationDeliveryAttempts a ON a.uid = s.uid AND a.tokenHash = s.tokenHash AND a.environment = s.environment
            WHERE a.eventType = 'send' AND a.status = 'sent'
            """
        ).map { try $0.decode(Int.self) }
    }

    /// The trial ended: the token was taken in the other environment, or it was not.
    static func finishTrial(
        _ tokenEnvironments: [TokenEnvironment],
        as trial: EnvironmentTrial,
        on connection: BlockingConnection
    ) throws {
        guard !tokenEnvironments.isEmpty else { return }
        let back: Query =
            trial == .neither
            ? ", environment = CASE d.environment WHEN 'production' THEN 'sandbox' ELSE 'production' END::pushEnvironment" : ""
        try connection.execute(
            """
            UPDATE devices d SET environmentTrial = \(trial.rawValue)::environmentTrial\(back)
            FROM \(table(tokenEnvironments)) s
            WHERE \(matching) AND d.environment = s.environment AND d.environmentTrial = 'trying'
            """
        )
    }

    /// By the index of tokens in use; what became of another one is of no account here.
    private static let matching: Query = """
        d.pushTokenHash = s.hash AND d.provider = 'apns' AND d.app = s.app AND d.registrationVersion = s.version
        AND d.tokenState <> 'inactive'
        """

    /// In one order everywhere, as feedback is.
    private static func table(_ tokenEnvironments: [TokenEnvironment]) -> Query {
        let ordered = tokenEnvironments.enumerated().sorted { $0.element.tokenHash.rawValue < $1.element.tokenHash.rawValue }
        return """
            (SELECT index, hash, app, version, environment::pushEnvironment FROM unnest(\(ordered.map(\.offset)),
                \(ordered.map(\.element.tokenHash.rawValue)), \(ordered.map(\.element.app)),
                \(ordered.map(\.element.registrationVersion)), \(ordered.map(\.element.environment.rawValue)))
                AS t(index, hash, app, version, environment))
            """
    }
}
