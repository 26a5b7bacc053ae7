import ServiceKit
import Synchronization
import TestSupport
import Testing

@Suite("Work that many ask for at once")
struct SharedWorkTests {
    private final class Counter: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock { $0 } }

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    @Test("it runs once for all who ask meanwhile, and again for who asks later")
    func once() async throws {
        let work = SharedWork<Int>()
        let (runs, asked) = (Counter(), Counter())
        @Sendable func value() async throws -> Int {
            _ = asked.next()
            return try await work.value {
                try await eventually("all have asked") { asked.value >= 10 }
                return runs.next()
            }
        }
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...10 { group.addTask { try await value() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // Who asked last may have come after the first run.
        #expect(values.count { $0 == 1 } >= 9)
        let before = runs.value
        #expect(try await value() == before + 1)
    }

    @Test("when it throws, the error is of who did it alone, and the next one does it again")
    func failure() async throws {
        let work = SharedWork<Int>()
        let runs = Counter()
        try await withThrowingTaskGroup(of: Int?.self) { group in
            group.addTask {
                try? await work.value {
                    _ = runs.next()
                    try await Task.sleep(for: .seconds(3_600))
                    return 1
                }
            }
            try await eventually("the first is at work") { runs.value == 1 }
            group.cancelAll()
            #expect(try await work.value { 2 } == 2)
        }
    }

    @MainActor
    @Test("a cancelled task stops waiting, and the work goes on for the others", .timeLimit(.minutes(1)))
    func cancelledWaiter() async throws {
        let work = SharedWork<Int>()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (released, release) = AsyncStream<Void>.makeStream()
        let first = Task {
            try await work.value {
                begin.yield()
                for await _ in released { break }
                return 1
            }
        }
        for await _ in begun { break }
        let cancelled = Task { try await work.value { 2 } }
        let other = Task { try await work.value { 3 } }
        // Both wait now: all of them take turns on the main actor.
        await Task.yield()
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        release.yield()
        #expect(try await first.value == 1)
        #expect(try await other.value == 1)
    }
}
