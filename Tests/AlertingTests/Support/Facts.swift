import AlertRules
import Alerting
import Foundation
import Postgres
import PushContract
import TestDatabase

/// Writes attempts with their rollups, as the writer of attempts would, by one statement.
extension Traffic {
    /// `count` attempts of a minute, each to a device of its own unless `devices` are fewer; `prefix` begins the uids of their people,
    /// unless all are of one `person`.
    func addFacts(
        _ minute: Minute,
        count: Int,
        reason: String? = nil,
        code: String? = nil,
        appVersion: String = "1.0",
        eventType: String = "send",
        provider: String = "fcm",
        app: String = "com.example.app",
        prefix: String = "u",
        devices: Int = 1_000_000,
        person: String? = nil
    ) async throws {
        let status = reason == nil ? "sent" : "failed"
        let platform = provider == "apns" ? "ios" : "android"
        try await pool.execute(
            """
            INSERT INTO notificationDeliveryAttempts (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode,
                providerErrorCode, attemptedAt, requestId, app, environment, pushType, appVersion, receivedAt, attemptKey)
            SELECT gen_random_uuid()::text, coalesce(\(person)::text, \(prefix)::text || (i % \(Int32(devices)))), \(platform)::pushPlatform, \(provider)::pushProvider,
                   'sha256:' || encode(sha256(convert_to(\(prefix)::text || (i % \(Int32(devices))), 'UTF8')), 'hex'),
                   \(eventType)::pushEventType, \(status)::pushStatus, \(reason)::pushReason, \(code)::text,
                   \(minute.timestamp)::timestamptz + i * interval '59 seconds' / \(Int32(max(1, count))), 'r', \(app)::text, 'production', 'alert',
                   \(appVersion)::text, \(minute.timestamp), gen_random_uuid()
            FROM generate_series(0, \(Int32(count - 1))) AS i
            """
        )
        guard eventType == "send" else { return }
        try await add(
            minute,
            attempts: Int64(count),
            bad: reason == nil ? 0 : Int64(count),
            reason: reason ?? "",
            provider: provider,
            app: app
        )
    }
}

/// Debian's psql.
enum Psql {
    static let path = "/usr/bin/psql"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// What an analyst sees, unaligned and without headings.
    static func run(_ sql: String, at url: String, user: String = "pushwatch_analyst") throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [url + (url.contains("?") ? "&" : "?") + "user=\(user)", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(sql.utf8))
        try input.fileHandleForWriting.close()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }
}
