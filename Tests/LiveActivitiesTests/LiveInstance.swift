import Delivery
import Logging
import Postgres
import PushContract
import TestDatabase

@testable import LiveActivities

/// One process with the roles `live` and `send`.
struct LiveInstance: Sendable {
    let engine: LiveEngine
    let sends: SendStore
    let dispatcher: SendDispatcher
    let pool: PostgresPool
    let clock: TestClock

    init(
        _ pool: PostgresPool,
        _ configuration: LiveConfiguration,
        lookup: @escaping ProviderLookup,
        clock: TestClock,
        logger: Logger = .silent
    ) {
        self.pool = pool
        self.clock = clock
        engine = BenchParts.engine(pool, configuration, lookup: lookup, clock: clock, logger: logger)
        sends = BenchParts.sends(pool, configuration, clock: clock)
        dispatcher = BenchParts.dispatcher(sends, pool, lookup: lookup)
    }

    /// Works until nothing is left: what was put into the queue is sent, and what follows from its outcomes is done.
    func runUntilIdle(all: Bool = true) async throws {
        try await engine.runUntilIdle(all: all)
        try await send()
        try await engine.runUntilIdle(all: false)
        try await send()
    }

    /// What is ready or due in the queue. It goes by the database's clock, so time that the test let pass is taken off its due times.
    func send() async throws {
        let passed = clock.takeAdvance()
        try await pool.execute("UPDATE pushScheduled SET runAt = runAt - \(passed.inSeconds) * interval '1 second' WHERE circuitId IS NULL")
        try await dispatcher.runUntilIdle()
    }

    /// Takes up to `limit` deliveries of the queue, as a dispatcher that then dies.
    func claim(_ limit: Int) async throws -> [ClaimedDelivery] {
        var claimed: [ClaimedDelivery] = []
        for queue in try await sends.queues() where queue.first != nil {
            claimed += try await sends.claim(queue: queue.queue.id, cursor: 0, limit: limit, lease: .seconds(60), worker: "doomed")
        }
        return claimed
    }
}

extension [LiveEngine.Job] {
    /// Those that send Live Activities.
    var pushes: [LiveEngine.Job] {
        filter { job in
            if case .otherDevices = job { return false }
            return true
        }
    }
}

extension LiveEngine {
    /// Turns until there is nothing to do.
    func runUntilIdle(all: Bool = true) async throws {
        try await working {
            var all = all
            while true {
                let jobs = try await turn(all: all)
                all = false
                guard !jobs.isEmpty || hasPortions else { return }
                await withDiscardingTaskGroup { group in
                    for job in jobs { group.addTask { await self.perform(job) } }
                }
            }
        }
    }
}
