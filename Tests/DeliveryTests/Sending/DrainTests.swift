import Postgres
import PushContract
import Testing

@testable import Delivery

@Suite("The drain of first attempts and of retries")
struct DrainTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    @Test(
        "the trend is that of what waits: a backlog that falls is never growing",
        arguments: [
            // Seconds ago and what waited then; now; in, out, trend, ETA.
            ([], 0, nil, .empty, nil), ([], 5, nil, .unknown, nil), ([(90, 9)], 5, nil, .unknown, nil),
            ([(60, 0), (30, 18)], 15, 17, .draining, 150), ([(60, 20), (5, 20)], 10, 0, .draining, 5),
            ([(60, 20), (30, 5)], 10, 0, .draining, 60), ([(60, 4), (30, 4)], 4, 2, .steady, nil),
            ([(60, 4), (30, 6)], 9, 7, .growing, nil), ([(50, 4), (30, 6)], 0, 0, .empty, nil),
        ] as [([(Int, Int)], Int, Int?, Drain.Trend, Double?)]
    )
    func trend(earlier: [(Int, Int)], waiting: Int, arrived: Int?, trend: Drain.Trend, eta: Double?) {
        let samples = earlier.shuffled().map { (at: Self.now - .seconds($0.0), waiting: $0.1) }
        let drain = Drain(waiting: waiting, ended: 2, samples: samples, now: Self.now)
        #expect(drain.trend == trend)
        #expect(drain.arrived == arrived)
        #expect(drain.eta?.inSeconds == eta)
    }

    @Test("20 retries count as retries also once they are due, and drain without ever growing")
    func due() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            let sends = (1...20).map { #"{"sendId": "s\#($0)", "uid": "ann", "title": "a"}"# }.joined(separator: ", ")
            try await bench.enqueue("[\(sends)]")
            func drains() async throws -> (queued: Drain, retries: Drain) {
                let backlog = try await bench.store.backlog()
                try await bench.store.sample(backlog)
                return (.queued(of: backlog.queues, now: backlog.at), .retries(of: backlog.queues, now: backlog.at))
            }
            func later() async throws {
                for (table, column) in [("pushQueueSamples", "at"), ("pushFinishedSingles", "finishedAt")] {
                    try await bench.pool.execute("UPDATE \(raw: table) SET \(raw: column) = \(raw: column) - interval '10 seconds'")
                }
            }
            #expect(try await drains().queued.waiting == 20)
            try await later()
            try await bench.pool.execute(
                """
                WITH failed AS (DELETE FROM pushReady RETURNING deliveryId, queue)
                INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber, reasonCode)
                SELECT deliveryId, queue, clock_timestamp() + interval '1 hour', 2, 'provider_5xx' FROM failed
                """
            )
            let (queued, retries) = try await drains()
            #expect(queued.waiting == 0 && queued.ended == 20 && queued.trend == .empty)
            #expect(retries.waiting == 20 && retries.arrived == 20 && retries.trend == .growing)
            try await later()
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = clock_timestamp() - interval '1 second'")
            #expect(try await bench.store.promote() == 20)
            let due = try await drains()
            #expect(due.queued.waiting == 0 && due.retries.waiting == 20, "due, and retries still")
            try await later()
            try await bench.pool.execute(
                """
                WITH sent AS (
                    DELETE FROM pushReady WHERE seq IN (SELECT seq FROM pushReady ORDER BY seq LIMIT 5) RETURNING deliveryId, queue, attemptNumber)
                INSERT INTO pushFinishedSingles (deliveryId, queue, outcome, attempts, finishedAt)
                SELECT deliveryId, queue, 'sent', attemptNumber, clock_timestamp() FROM sent
                """
            )
            let falling = try await drains().retries
            #expect(falling.waiting == 15 && falling.ended == 5 && falling.trend == .draining)
            #expect(falling.eta.map { $0 > .seconds(20) && $0 < .seconds(70) } == true)
            try await later()
            try await bench.dispatch(ScriptedProvider())
            let gone = try await drains().retries
            #expect(gone.waiting == 0 && gone.ended == 20 && gone.trend == .empty)
        }
    }
}
