import CommandLineKit
import Foundation
import Postgres
import PushContract

/// An outage of FCM with a full queue, and its end.
struct OutageBench {
    /// How long requests are counted while the circuit is open.
    private static let counted = 20.0

    let waiting: Int
    let instances: Int
    let deliveries: IsolationDeliveries
    let simulator: BenchSimulator

    func run() async throws -> IsolationReport.Outage {
        Terminal.note("\(waiting) FCM sends to a healthy provider")
        let healthy = try await healthySeconds()
        Terminal.note("an outage of FCM with \(waiting) sends")
        let run = "outage"
        try await simulator.setFaults(#"[{"provider":"fcm","answer":{"status":503}}]"#)
        try await deliveries.enqueue(waiting, run: run)
        try await deliveries.wait("the circuit is open", for: .seconds(60)) {
            try await deliveries.pool.query("SELECT EXISTS (SELECT FROM pushCircuits WHERE closedAt IS NULL)")[0].decode(Bool.self)
        }
        // Requests under way when it opened end.
        try await Task.sleep(for: .seconds(3))
        let before = try await deliveries.attempts(run: run)
        let opened = try await deliveries.pool.query(
            """
            SELECT extract(epoch FROM (SELECT min(since) FROM pushCircuits WHERE closedAt IS NULL)
                - (SELECT min(attemptedAt) FROM notificationDeliveryAttempts WHERE sendId LIKE \(run + "-%")))::float8
            """
        )[0].decode(Double.self)
        try await Task.sleep(for: .seconds(Self.counted))
        let during = try await deliveries.attempts(run: run) - before
        try await simulator.setFaults("[]")
        let recovered = ContinuousClock.now
        var seconds: (critical: Double?, most: Double?) = (nil, nil)
        try await deliveries.wait("the queue is empty after the outage", for: .seconds(300)) {
            let passed = (ContinuousClock.now - recovered).inSeconds
            if seconds.critical == nil,
                try await deliveries.finished(run: run, class: .critical) == (waiting + IsolationDeliveries.criticalEvery - 1)
                    / IsolationDeliveries.criticalEvery
            {
                seconds.critical = passed
            }
            let finished = try await deliveries.finished(run: run)
            if seconds.most == nil, finished * 100 >= waiting * 95 { seconds.most = passed }
            return finished == waiting
        }
        let all = (ContinuousClock.now - recovered).inSeconds
        return IsolationReport.Outage(
            waiting: waiting,
            instances: instances,
            openedAfterSeconds: opened,
            requestsBeforeOpen: before,
            requestsPerMinute: Double(during) * 60 / Self.counted,
            most95Seconds: seconds.most ?? all,
            allSeconds: all,
            criticalSeconds: seconds.critical ?? all,
            healthySeconds: healthy
        )
    }

    private func healthySeconds() async throws -> Double {
        let start = ContinuousClock.now
        try await deliveries.enqueue(waiting, run: "healthy")
        try await deliveries.wait("a healthy provider has all", for: .seconds(300)) {
            try await deliveries.finished(run: "healthy") == waiting
        }
        return (ContinuousClock.now - start).inSeconds
    }
}
