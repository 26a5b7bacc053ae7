import Testing

@testable import ProviderSimulator

@Suite("Readiness")
struct ReadinessTests {
    @Test("everybody who waits gets the value, also those who come late")
    func settles() async throws {
        let readiness = Readiness<Int>()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 { group.addTask { try await readiness.value() } }
            readiness.settle(.success(7))
            readiness.settle(.success(8))
            for try await value in group { #expect(value == 7) }
        }
        #expect(try await readiness.value() == 7)
    }

    @Test("who is cancelled waits no longer")
    func cancellation() async throws {
        let readiness = Readiness<Int>()
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { try await readiness.value() }
                group.cancelAll()
                _ = try await group.next()
            }
        }
    }
}
