import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts
@testable import Delivery

@Suite("Attempts of sends in the ledger")
struct AttemptRecordingTests {
    @Test("generations whose filters lack the ids are not searched", arguments: [1, 40])
    func searched(sends: Int) async throws {
        try await SendingBench.with { bench in
            try await bench.onOneConnection { pool, _ in
                let hints = LedgerHints()
                try await FrozenLedger(pool: pool, hints: hints, logger: .silent).refresh()
                let recorder = AttemptRecording.recorder(slot: 9, hints: hints, logger: .silent)
                let dispatcher = SendDispatcher(
                    store: SendStore(pool: pool, cipher: bench.cipher, record: recorder),
                    throttles: ThrottleStore(pool: pool),
                    lookup: ScriptedProvider().lookup,
                    configuration: DispatcherConfiguration(worker: "test"),
                    logger: .silent
                )
                // Over the same connection: another one would report its own look-ups at any time.
                _ = try await DeviceStore(pool: pool, cipher: bench.cipher, record: recorder).register(
                    .iPhone("user", "phone", token: SendingBench.token(0)),
                    requestId: "register",
                    now: .now()
                )
                func send(_ run: Int) async throws {
                    for number in 0..<sends {
                        try await bench.enqueue(#"{"sendId": "s\#(run)-\#(number)", "uid": "user", "title": "Goal"}"#)
                    }
                    try await dispatcher.runUntilIdle()
                }
                // The first transaction learns which generations there are.
                try await send(0)
                let before = try await searches(pool)
                try await send(1)
                #expect(try await searches(pool) == before)
                #expect(try await bench.count("notificationDeliveryAttempts WHERE eventType = 'send' AND status = 'sent'") == 2 * sends)
            }
        }
    }

    private func searches(_ pool: PostgresPool) async throws -> Int {
        _ = try await pool.query("SELECT pg_stat_force_next_flush()::text")
        return try await pool.query(
            "SELECT coalesce(sum(idx_scan), 0)::integer FROM pg_stat_user_indexes WHERE relname LIKE 'attemptledger%'"
        )[0].decode(Int.self)
    }
}
