import Foundation
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

@testable import Attempts

@Suite("Uncommitted outcomes")
struct UncommittedOutcomesTests {
    private let now = Sample.now

    @Test("the oldest counts, for as long as its writing lasts, whatever comes of it")
    func oldest() async throws {
        let outcomes = UncommittedOutcomes()
        #expect(outcomes.waiting(for: .zero, at: now) == nil)
        await outcomes.during(now - .seconds(5), arrivedAt: now) {
            await outcomes.during(now - .seconds(20), arrivedAt: now) {
                #expect(outcomes.waiting(for: .zero, at: now) == now - .seconds(20))
                #expect(outcomes.waiting(for: .seconds(2), at: now + .seconds(1)) == nil, "it came just now")
                #expect(outcomes.waiting(for: .seconds(2), at: now + .seconds(2)) == now - .seconds(20))
            }
            #expect(outcomes.waiting(for: .zero, at: now) == now - .seconds(5))
        }
        await #expect(throws: CancellationError.self) { try await outcomes.during(now, arrivedAt: now) { throw CancellationError() } }
        #expect(outcomes.waiting(for: .zero, at: now) == nil)
    }

    @Test("a report that comes days late is nobody's slowness: rules do not wait for the day it belongs to")
    func late() async throws {
        let outcomes = UncommittedOutcomes()
        await outcomes.during(now - .seconds(3 * 86_400), arrivedAt: now) {
            #expect(outcomes.waiting(for: .zero, at: now) == now - UncommittedOutcomes.expectedLateness)
        }
    }

    @Test("what waits in the ingestor's queue counts as uncommitted until it is answered")
    func ingestor() async throws {
        try await withAttempts { store in
            let uncommitted = UncommittedOutcomes()
            let moment = now
            let ingestor = AttemptIngestor(
                pool: store.pool,
                maintenance: store.maintenance,
                uncommitted: uncommitted,
                logger: .silent,
                now: { moment }
            )
            let batch = try Sample.batch([Sample.attempt("waiting", at: moment - .seconds(30)), Sample.attempt("newer", at: moment)])
            // Nobody writes yet.
            let waiting = Task { try await ingestor.submit(batch) }
            try await eventually("it waits") { uncommitted.waiting(for: .zero, at: moment) != nil }
            #expect(uncommitted.waiting(for: .zero, at: moment) == moment - .seconds(30))
            let running = Task { try await ingestor.run() }
            #expect(try await waiting.value.count == 2)
            #expect(uncommitted.waiting(for: .zero, at: moment) == nil)
            running.cancel()
            _ = await running.result
        }
    }
}
