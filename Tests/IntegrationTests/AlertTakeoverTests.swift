import AlertRules
import Alerting
import Foundation
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Two alerting servers, one database")
    struct AlertTakeoverTests {
        private func holder(_ name: String, on pool: PostgresPool) async throws -> String? {
            try await pool.query("SELECT holder FROM alertLeases WHERE name = \(name) AND expiresAt > clock_timestamp()").first?
                .decode(String.self)
        }

        /// Waits until somebody else than `former` holds both leases. How long that took from the moment in which the holder was stopped.
        private func takeover(from former: [String], since start: ContinuousClock.Instant, on pool: PostgresPool) async throws -> Duration {
            for name in ["evaluator", "notifier"] {
                try await eventually("\(name) is taken over") {
                    guard let now = try await holder(name, on: pool) else { return false }
                    return !former.contains(now)
                }
            }
            return ContinuousClock.now - start
        }

        private func holders(on pool: PostgresPool) async throws -> [String] {
            try await eventually("both leases are taken") {
                let current = [try await holder("evaluator", on: pool), try await holder("notifier", on: pool)].compactMap { $0 }
                return current.count == 2 ? current : nil
            }
        }

        private func incident(_ api: API) async throws {
            let now = Timestamp.now().flooredToMinute()
            let batch = (1...30).flatMap { ago in
                (0..<40).map { index in
                    SampleAttempt(
                        id: "m\(ago)-\(index)",
                        at: now - .seconds(ago * 60) + .milliseconds(index * 400),
                        reason: index < 10 ? "provider_5xx" : nil
                    ).json
                }
            }
            let answer = try await api.post("/attempts", batch)
            #expect(answer.status == 200, "\(answer.text.prefix(300))")
        }

        @Test("a frozen holder is replaced and fenced off when it wakes up; a killed one is replaced; each alert is notified once")
        func takeover() async throws {
            #expect(EvaluatorConfiguration().leaseDuration + EvaluatorConfiguration().pollInterval <= .seconds(15))
            let notifier = NotifierConfiguration(externalURL: "")
            #expect(notifier.leaseDuration + notifier.pollInterval <= .seconds(15) && notifier.claimDuration <= .seconds(15))
            try await withDatabaseURL { database in
                try await withAlertHook { hook in
                    let settings = ["ALERTS_WEBHOOK_URL": hook.url, "ALERTS_LAG_SECONDS": "0"]
                    let first = try await ServerProcess.start(database: database, settings: settings)
                    try await first.waitUntilReady()
                    try await withPool(database) { pool in
                        let old = try await holders(on: pool)
                        let second = try await ServerProcess.start(database: database, settings: settings)
                        try await second.waitUntilReady()
                        let stopped = ContinuousClock.now
                        first.freeze()
                        try await incident(second.api)
                        let frozen = try await takeover(from: old, since: stopped, on: pool)
                        try await eventually("the alert arrives") { hook.alerts(of: "ProviderUnavailable").count == 1 }
                        let new = try await holders(on: pool)
                        first.thaw()
                        // The one that woke up looks at the leases and waits; what it may still have tried to write was refused.
                        try await eventually("it answers again") { try await first.api.get("/health/ready").status == 200 }
                        try await eventually("another minute is evaluated") {
                            try await pool.query("SELECT count(*) FROM alertRuleProgress WHERE evaluatedAt > now() - interval '2 seconds'")[
                                0
                            ]
                            .decode(Int.self) > 0
                        }
                        #expect(try await holders(on: pool) == new)
                        let killedAt = ContinuousClock.now
                        try await second.killNow()
                        let test = try await TestNotification.fire(
                            receivers: ["webhook"],
                            severity: .page,
                            recording: .test("test"),
                            on: pool
                        )
                        let killed = try await takeover(from: new, since: killedAt, on: pool)
                        try await eventually("the survivor delivers") { !hook.alerts(of: TestNotification.rule).isEmpty }
                        try await TestNotification.resolve(test, at: .now(), on: pool)
                        try await eventually("its end too") {
                            hook.alerts(of: TestNotification.rule).map(\.status) == ["firing", "resolved"]
                        }
                        #expect(frozen <= .seconds(15) && killed <= .seconds(15), "\(frozen), \(killed)")
                        print("taken over \(frozen) after a freeze, \(killed) after a kill -9")
                        #expect(hook.alerts(of: "ProviderUnavailable").map(\.status) == ["firing"], "notified once, by three holders")
                        let epochs = try await pool.query("SELECT epoch FROM alertLeases").map { try $0.decode(Int64.self) }
                        #expect(!epochs.isEmpty && epochs.allSatisfy { $0 >= 3 }, "each takeover is a new epoch: \(epochs)")
                        #expect(try await first.terminate().code == 0)
                    }
                }
            }
        }
    }
}
