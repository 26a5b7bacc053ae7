import AlertRules
import Alerting
import Attempts
import HTTPClient
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Evaluator and notifier as services")
struct ServicesTests {
    @Test("attempts that are written become an alert at the receiver without anybody's doing, and both services stop when cancelled")
    func run() async throws {
        try await withDatabase { pool in
            let now = Timestamp.now()
            try await write(pool, endingAt: now.flooredToMinute())
            let hook = Hook()
            try await withHook(hook) { url in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    let receivers = ReceiverRegistry(fixed: [.webhook("hook", url: url)], logger: .silent)
                    let evaluator = RuleEvaluator(
                        pool: pool,
                        rules: RuleRegistry(rules: [Rules.provider5xx], logger: .silent),
                        receivers: receivers,
                        configuration: EvaluatorConfiguration(lag: .zero),
                        logger: .silent
                    )
                    let notifier = Notifier(
                        pool: pool,
                        receivers: receivers,
                        configuration: NotifierConfiguration(externalURL: "http://localhost", pollInterval: .milliseconds(20)),
                        logger: .silent,
                        send: TestHTTP().send
                    )
                    group.addTask { try await evaluator.run() }
                    group.addTask { try await notifier.run() }
                    var messages = hook.messages.makeAsyncIterator()
                    let message = await messages.next()
                    #expect(message?.status == "firing")
                    group.cancelAll()
                    try await group.waitForAll()
                }
            }
            let delivered = try await pool.query("SELECT count(*) FROM notifications WHERE state = 'delivered'")
            #expect(try delivered[0].decode(Int.self) <= 1)
        }
    }

    /// Twenty minutes of real attempts, a tenth of which failed with provider errors.
    private func write(_ pool: PostgresPool, endingAt end: Timestamp) async throws {
        var batch = AttemptBatch()
        for index in 0..<2000 {
            let at = end - .seconds(20 * 60) + .milliseconds(600 * index)
            let bad = index % 10 == 0
            try batch.append(
                Attempt(
                    attemptId: "a-\(index)",
                    uid: "u-\(index)",
                    platform: .android,
                    provider: .fcm,
                    tokenHash: TokenHash(rawValue: "sha256:" + String(repeating: "a", count: 64))!,
                    eventType: .send,
                    status: bad ? .failed : .sent,
                    reasonCode: bad ? .provider5xx : nil,
                    attemptedAt: at,
                    requestId: "r-\(index)"
                )
            )
        }
        try await PartitionMaintenance(pool: pool, logger: .silent).ensurePartitions(for: batch)
        let filled = batch
        try await pool.withConnection { connection in
            try await connection.perform { blocking in
                try blocking.transaction { _ = try AttemptWriter.write(filled, on: $0, slot: 0, receivedAt: end) }
            }
        }
    }
}
