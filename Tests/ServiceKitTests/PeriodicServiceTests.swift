import Logging
import ServiceKit
import Synchronization
import Testing

@Suite struct PeriodicServiceTests {
    private struct Failure: Error {}

    /// Returns at once from every sleep and records how long it was asked for.
    private final class Sleeps: Clock, Sendable {
        struct Instant: InstantProtocol {
            var offset = Duration.zero
            func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            func duration(to other: Instant) -> Duration { other.offset - offset }
            static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
        }

        private let state = Mutex((now: Instant(), sleeps: [Duration]()))

        var now: Instant { state.withLock { $0.now } }
        var minimumResolution: Duration { .zero }
        var all: [Duration] { state.withLock { $0.sleeps } }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            state.withLock { state in
                state.sleeps.append(state.now.duration(to: deadline))
                state.now = deadline
            }
        }
    }

    @Test("a body runs after every interval, and a failure, a cancellation of something else too, waits for the retry interval only")
    func failure() async throws {
        let clock = Sleeps()
        let service = PeriodicService(
            "test",
            every: .seconds(10),
            retryInterval: .seconds(1),
            initialDelay: .seconds(3),
            clock: clock,
            logger: Logger(label: "test"),
            state: 0
        ) { run in
            run += 1
            if run == 2 { throw Failure() }
            if run == 3 { throw CancellationError() }
            if run == 5 { withUnsafeCurrentTask { $0?.cancel() } }
        }
        try await service.run()
        #expect(clock.all == [.seconds(3), .seconds(10), .seconds(1), .seconds(1), .seconds(10), .seconds(10)])
    }

    @Test("a cancelled body ends the service without another run")
    func cancellation() async throws {
        let runs = Mutex(0)
        let service = PeriodicService("test", every: .seconds(10), logger: Logger(label: "test")) {
            runs.withLock { $0 += 1 }
            withUnsafeCurrentTask { $0?.cancel() }
            try Task.checkCancellation()
        }
        try await service.run()
        #expect(runs.withLock { $0 } == 1)
    }
}
