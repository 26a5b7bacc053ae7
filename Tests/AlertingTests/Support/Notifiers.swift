import AlertRules
import Alerting
import HTTPClient
import Postgres
import PushContract
import TestDatabase

extension Notifier {
    static func forTest(
        _ pool: PostgresPool,
        receivers: [ReceiverConfiguration],
        clock: ManualClock,
        leaseDuration: Duration = .seconds(60),
        claimDuration: Duration = .seconds(60),
        send: @escaping AlertHTTP
    ) -> Notifier {
        Notifier(
            pool: pool,
            receivers: ReceiverRegistry(fixed: receivers, logger: .silent),
            configuration: NotifierConfiguration(
                externalURL: "https://push.example.org",
                leaseDuration: leaseDuration,
                claimDuration: claimDuration
            ),
            logger: .silent,
            now: { clock.now },
            jitter: { 1 },
            send: send
        )
    }
}

/// An outbox with one alert firing since 12:20 (and resolved, if asked), as the evaluator writes it.
func fireOnce(_ pool: PostgresPool, receivers: [ReceiverConfiguration], clock: ManualClock, resolved: Bool = false) async throws {
    let traffic = try await Traffic(pool)
    try await traffic.add(0..<20, attempts: 100, bad: 1)
    try await traffic.add(20..<35, attempts: 100, bad: 6)
    try await traffic.add(35..<60, attempts: 100, bad: 1)
    let evaluator = RuleEvaluator.forTest(pool, receivers: receivers, clock: clock)
    clock.set((Traffic.start + 35).timestamp + .seconds(60))
    try await evaluator.evaluate(minutes: 34)
    try await evaluator.evaluate(minutes: 35)
    if resolved {
        clock.set((Traffic.start + 60).timestamp + .seconds(60))
        try await evaluator.evaluate(minutes: 60)
    }
}
