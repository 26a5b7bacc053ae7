import Synchronization
import TestSupport
import Testing

@testable import Delivery

@Suite("Group commit")
struct GroupCommitTests {
    /// The batches as they were handled, of items that were all waiting when the first was.
    private func batches(limit: Int, critical: [Int], others: [Int]) async throws -> [[Int]] {
        let handled = Mutex<[[Int]]>([])
        let commit = GroupCommit<Int, Int>(limit: limit) { items in
            handled.withLock { $0.append(items) }
            return items
        }
        commit.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for item in others + critical {
                group.addTask { #expect(await commit.submit(item, isCritical: critical.contains(item)) == item) }
            }
            try await eventually("all wait") { commit.count == others.count + critical.count }
            group.addTask { await commit.run() }
            commit.close()
        }
        return handled.withLock { $0 }
    }

    @Test("critical items go first, with half of a batch while others wait; every item is handled once, in batches of the limit")
    func critical() async throws {
        let batches = try await batches(limit: 4, critical: [101, 102, 103, 104, 105], others: [1, 2, 3])
        #expect(batches.map { $0.count { $0 > 100 } } == [2, 3])
        #expect(batches.map(\.count) == [4, 4])
        #expect(Set(batches.joined()) == [1, 2, 3, 101, 102, 103, 104, 105])
        #expect(try await self.batches(limit: 3, critical: [], others: [1, 2, 3, 4]).map(\.count) == [3, 1])
    }

    /// When the batch of so many items began, and the one of an item that was submitted after it.
    private func starts(_ items: Int, interval: Duration) async -> [ContinuousClock.Instant] {
        let starts = Mutex<[ContinuousClock.Instant]>([])
        let commit = GroupCommit<Int, Int>(limit: 100, interval: interval) { items in
            starts.withLock { $0.append(.now) }
            return items
        }
        commit.open()
        for item in 1..<items { commit.submit(item) { _ in } }
        commit.submit(0) { _ in commit.submit(0) { _ in commit.close() } }
        await commit.run()
        return starts.withLock { $0 }
    }

    @Test("after a batch of 16 the next one begins as much later as the interval says; after a smaller one it begins at once")
    func interval() async throws {
        let many = await starts(16, interval: .milliseconds(40))
        try #require(many.count == 2)
        #expect(many[1] - many[0] >= .milliseconds(40))
        // It would not end in a day.
        #expect(await starts(15, interval: .seconds(86_400)).count == 2)
    }

    @Test(
        "the larger a batch was, the later the next one begins; after a full one it begins at once",
        arguments: [(15, 0), (16, 8), (40, 8), (60, 12), (100, 20), (249, 20), (250, 0)]
    )
    func pause(count: Int, milliseconds: Int) {
        let pause = GroupCommit<Int, Int>.pause(after: count, limit: 250, interval: .milliseconds(8))
        #expect(pause == .milliseconds(milliseconds))
    }
}
