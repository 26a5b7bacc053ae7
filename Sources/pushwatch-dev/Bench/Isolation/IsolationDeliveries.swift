import CommandLineKit
import Foundation
import Postgres
import PushContract

/// What `bench isolation` posts, and what became of it.
struct IsolationDeliveries {
    /// Of one class of APNs sends.
    enum Class: String {
        case normal, critical
    }

    /// One send of so many is critical: often enough that the 99th percentile is not the slowest one.
    static let criticalEvery = 4

    /// APNs sends.
    let load: SendLoad
    let pool: PostgresPool

    init(load: SendLoad, pool: PostgresPool) {
        self.load = Self.load(load, provider: "apns") { _ in SendLoad.token }
        self.pool = pool
    }

    /// FCM sends that nobody waits for. FCM refuses tokens shorter than 16 characters.
    func enqueue(_ count: Int, run: String) async throws {
        try await Self.load(load, provider: "fcm") { "bench-registration-token-\($0)" }.post(count, batch: 200, posters: 4, run: run)
    }

    /// One send to each of these APNs tokens.
    func enqueue(rejected tokens: [String]) async throws {
        try await Self.load(load, provider: "apns") { tokens[$0] }.post(tokens.count, batch: tokens.count, posters: 1, run: "rejected")
    }

    /// Ends what waits, and waits until nothing is queued or under way and no circuit is open, so that the next scenario begins with an
    /// empty queue. What was under way is scheduled when its request ends: hence again and again.
    func clear() async throws {
        try await wait("the queue is empty", for: .seconds(120)) {
            try await pool.execute(
                "UPDATE pushSends SET expiresAt = createdAt WHERE sendId NOT LIKE 'apns-%' AND expiresAt > clock_timestamp()"
            )
            try await pool.execute("UPDATE pushScheduled SET runAt = clock_timestamp() WHERE runAt > clock_timestamp()")
            // Where nothing waits, nothing is a probe.
            try await pool.execute("UPDATE pushCircuits SET closedAt = clock_timestamp(), closedBy = 'bench' WHERE closedAt IS NULL")
            return try await pool.query(
                """
                SELECT NOT EXISTS (SELECT FROM pushReady) AND NOT EXISTS (SELECT FROM pushLeases) AND NOT EXISTS (SELECT FROM pushScheduled)
                    AND NOT EXISTS (SELECT FROM pushCircuits WHERE closedAt IS NULL)
                """
            )[0].decode(Bool.self)
        }
    }

    func latency(of name: Class, run: String, posted: Int) async throws -> IsolationReport.Latency {
        try await wait("all sends of the scenario have ended", for: .seconds(120)) {
            try await finished(run: run) >= posted
        }
        let (sends, p50, p99) = try await pool.query(
            """
            SELECT count(*), 1000 * percentile_cont(0.5) WITHIN GROUP (ORDER BY took), 1000 * percentile_cont(0.99) WITHIN GROUP (ORDER BY took)
            FROM (
                SELECT extract(epoch FROM f.finishedAt - d.createdAt)::float8 AS took
                FROM pushSends s JOIN pushDeliveries d USING (sendId) JOIN pushFinished f USING (deliveryId)
                WHERE s.sendId LIKE \(run + "-%") AND s.class = \(name.rawValue)::pushClass AND f.outcome = 'sent'
            ) x
            """
        )[0].decode((Int, Double, Double).self)
        return IsolationReport.Latency(sends: sends, p50Milliseconds: p50, p99Milliseconds: p99)
    }

    func finished(run: String, class name: Class? = nil) async throws -> Int {
        try await pool.query(
            """
            SELECT count(*) FROM pushSends s JOIN pushDeliveries d USING (sendId) JOIN pushFinished f USING (deliveryId)
            WHERE s.sendId LIKE \(run + "-%") AND (\(name?.rawValue)::text IS NULL OR s.class::text = \(name?.rawValue))
            """
        )[0].decode(Int.self)
    }

    /// Attempts of a run so far.
    func attempts(run: String) async throws -> Int {
        try await pool.query("SELECT count(*) FROM notificationDeliveryAttempts WHERE sendId LIKE \(run + "-%")")[0].decode(Int.self)
    }

    func wait(_ what: String, for limit: Duration, until condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + limit
        while try await !condition() {
            guard ContinuousClock.now < end else { throw CommandFailure.check("Not within \(Int(limit.inSeconds)) s: \(what).") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func load(_ load: SendLoad, provider: String, token: @escaping @Sendable (Int) -> String) -> SendLoad {
        var load = load
        load.element = { number, run in
            let critical = number.isMultiple(of: criticalEvery) ? #","critical":true"# : ""
            return
                #"{"sendId":"\#(run)-\#(number)","uid":"user-\#(number)","token":"\#(token(number))","provider":"\#(provider)","#
                + #""app":"\#(SendLoad.app)","title":"\#(SendLoad.title)","body":"\#(SendLoad.body)"\#(critical)}"#
        }
        return load
    }
}
