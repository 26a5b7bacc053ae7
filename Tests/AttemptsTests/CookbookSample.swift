import Postgres
import PushContract

@testable import Attempts

/// A day on which everything happens that the cookbook queries. Small enough to work the answers out by hand.
enum CookbookSample {
    static let day = Timestamp(rfc3339: "2026-03-10T00:00:00Z")!

    /// A send at `time` (hours, minutes, seconds) of the day, `days` after it.
    static func send(
        _ id: String,
        _ uid: String,
        token: String,
        _ provider: Provider,
        at time: (Int64, Int64, Int64),
        days: Int64 = 0,
        _ status: AttemptStatus = .sent,
        _ reason: ReasonCode? = nil,
        code: String? = nil,
        version: String = "2.0",
        latency: Int32? = nil,
        sendId: String? = nil
    ) -> Attempt {
        Attempt(
            attemptId: id,
            uid: uid,
            platform: provider == .apns ? .ios : .android,
            provider: provider,
            tokenHash: TokenHash(rawValue: "sha256:" + String(repeating: token, count: 32))!,
            eventType: .send,
            status: status,
            reasonCode: reason,
            providerErrorCode: code,
            attemptedAt: day + .seconds(days * 86_400 + time.0 * 3600 + time.1 * 60 + time.2),
            requestId: "r",
            app: provider == .apns ? "ios.app" : "android.app",
            appVersion: version,
            latencyMs: latency,
            sendId: sendId
        )
    }

    static var attempts: [Attempt] {
        var attempts = [
            // u-1: received, lost the token, was sent to once more, came back with another one.
            send("s1", "u-1", token: "01", .apns, at: (10, 0, 0), version: "1.0", latency: 10, sendId: "S1"),
            send("s2", "u-1", token: "01", .apns, at: (10, 30, 0), version: "1.0", latency: 30),
            send(
                "s3",
                "u-1",
                token: "01",
                .apns,
                at: (11, 0, 0),
                .failed,
                .tokenNotRegistered,
                code: "Unregistered",
                version: "1.0",
                latency: 20
            ),
            send(
                "s4",
                "u-1",
                token: "01",
                .apns,
                at: (11, 5, 0),
                .failed,
                .tokenNotRegistered,
                code: "Unregistered",
                version: "1.0",
                latency: 20
            ),
            send("s5", "u-1", token: "11", .apns, at: (11, 40, 0), version: "1.1", latency: 50),
            // u-2: reached at the second try.
            send("f1", "u-2", token: "02", .fcm, at: (10, 0, 10), .failed, .provider5xx, code: "UNAVAILABLE", latency: 100, sendId: "S1"),
            send("f2", "u-2", token: "02", .fcm, at: (10, 0, 40), latency: 200, sendId: "S1"),
            // u-3: never reached, for unknown reasons.
            send("f3", "u-3", token: "03", .fcm, at: (10, 10, 0), .failed, .unknown, code: "QUOTA_EXCEEDED", latency: 300, sendId: "S2"),
            send("f4", "u-3", token: "03", .fcm, at: (10, 20, 0), .failed, .unknown, code: "QUOTA_EXCEEDED", sendId: "S2"),
            send("f5", "u-3", token: "03", .fcm, at: (10, 21, 0), .failed, .unknown),
            // u-4: nobody said what came of it.
            send("q1", "u-4", token: "04", .fcm, at: (9, 0, 0), .queued),
            // The same hour a week before.
            send("w1", "u-1", token: "01", .apns, at: (10, 0, 0), days: -7),
        ]
        var register = send("r1", "u-1", token: "11", .apns, at: (11, 30, 0), version: "1.1")
        register.eventType = .register
        var unregister = send("n1", "u-5", token: "05", .fcm, at: (9, 30, 0))
        unregister.eventType = .unregister
        unregister.platform = .web
        unregister.app = "web.app"
        attempts += [register, unregister]
        // A bad minute the day before: 5 of 20.
        for number in 0..<20 {
            let isBad = number < 5
            attempts.append(
                send(
                    "b\(number)",
                    "u-b",
                    token: "0b",
                    .fcm,
                    at: (8, 0, Int64(number)),
                    days: -1,
                    isBad ? .failed : .sent,
                    isBad ? .network : nil
                )
            )
        }
        return attempts
    }

    /// Devices, one send with four deliveries, and an alert.
    static let others = """
        INSERT INTO devices VALUES
            ('u-1', 'phone', 'ios', 'apns', 'production', 'ios.app', 'raw', 'sha256:\(String(repeating: "11", count: 32))', 'active', NULL,
             '2026-03-10 11:30Z', NULL, NULL, '19.0', '1.1', NULL, 2, '2026-01-01Z', '2026-03-10 11:30Z', '2026-03-10 11:40Z',
             '2026-06-08Z');
        INSERT INTO pushQueues (app, provider, environment, class)
        VALUES ('android.app', 'fcm', 'production', 'normal'), ('ios.app', 'apns', 'production', 'critical');
        INSERT INTO pushDeliveries (sendId, queue, uid, deviceId, platform, createdAt)
            SELECT 'S1', 1, 'u-' || n, 'd-' || n, 'android', '2026-03-10 10:00Z'
            FROM generate_series(1, 5) AS n;
        INSERT INTO pushFinishedSingles VALUES (1, 1, 'sent', 1, 'm-1', '2026-03-10 10:00:01Z');
        INSERT INTO pushDead VALUES (2, 1, 'failed', 3, 'auth', 'THIRD_PARTY_AUTH_ERROR', '2026-03-10 10:00:02Z');
        INSERT INTO pushScheduled VALUES (3, 1, '2026-03-10 10:05Z', 2, 'network');
        INSERT INTO pushLeases VALUES (7, 'w', '2026-03-10 10:00Z', '2100-01-01Z', NULL, '{4}', '{1}', '{NULL}');
        INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt) VALUES (1, 5, 1, '2026-03-10 10:00Z');
        INSERT INTO alerts VALUES
            ('00000000-0000-0000-0000-000000000001', 'ProviderOutage', 'v', 'provider=fcm', '{}', '{}', 'page', 'resolved',
             '2026-03-10 10:00Z',
             '2026-03-10 10:05Z', '2026-03-10 10:20Z', '2026-03-10 10:25Z', 'recovered', 0, '{}', '{}', NULL, 'SELECT 1', '{}',
             '2026-03-10 10:07Z', 'ana', NULL, false, NULL, '2026-03-10 10:25Z');
        """
}
