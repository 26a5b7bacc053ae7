import ServiceKit
import Synchronization
import TestSupport
import Testing

@Suite("Work that many ask for at once")
struct SharedWorkTests {
    @Test("it runs once for all who ask meanwhile, and again for who asks later")
    func once() async throws {
        let work = SharedWork<Int>()
        let runs = Mutex(0)
        let asked = Mutex(0)
        @Sendable func value() async throws -> Int {
            asked.withLock { $0 += 1 }
            return try await work.value {
                try await eventually("all have asked") { asked.withLock { $0 } >= 10 }
                return runs.withLock { runs in
                    runs += 1
                    return runs
                }
            }
        }
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...10 { group.addTask { try await value() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // Who asked last may have come after the first run.
        #expect(values.count { $0 == 1 } >= 9)
        let before = runs.withLock { $0 }
        #expect(try await value() == before + 1)
    }

    @Test("a value is good for as long as it is said to be")
    func fresh() async throws {
        let work = SharedWork<Int>(freshFor: .seconds(3_600))
        #expect(try await work.value { 1 } == 1)
        #expect(try await work.value { 2 } == 1)
    }

    @Test("when it throws, the error is of who did it alone, and the next one does it again")
    func failure() async throws {
        let work = SharedWork<Int>(freshFor: .seconds(3_600))
        let isHanging = Mutex(false)
        try await withThrowingTaskGroup(of: Int?.self) { group in
            group.addTask {
                try? await work.value {
                    isHanging.withLock { $0 = true }
                    try await Task.sleep(for: .seconds(3_600))
                    return 1
                }
            }
            try await eventually("the first is at work") { isHanging.withLock { $0 } }
            group.cancelAll()
            #expect(try await work.value { 2 } == 2)
        }
    }
}
