import Synchronization
import Testing

@testable import Delivery

@Suite("Group commit")
struct GroupCommitTests {
    /// The batches as they were handled, of items that were all waiting when the first was.
    private func batches(limit: Int, critical: [Int], others: [Int]) async -> [[Int]] {
        let handled = Mutex<[[Int]]>([])
        let commit = GroupCommit<Int, Int>(limit: limit) { items in
            handled.withLock { $0.append(items) }
            return items
        }
        commit.open()
        await withTaskGroup(of: Void.self) { group in
            for item in others + critical {
                group.addTask { #expect(await commit.submit(item, isCritical: critical.contains(item)) == item) }
            }
            while commit.count < others.count + critical.count { await Task.yield() }
            group.addTask { await commit.run() }
            commit.close()
        }
        return handled.withLock { $0 }
    }

    @Test("critical items go first, with half of a batch while others wait; every item is handled once, in batches of the limit")
    func critical() async {
        let batches = await batches(limit: 4, critical: [101, 102, 103, 104, 105], others: [1, 2, 3])
        #expect(batches.map { $0.count { $0 > 100 } } == [2, 3])
        #expect(batches.map(\.count) == [4, 4])
        #expect(Set(batches.joined()) == [1, 2, 3, 101, 102, 103, 104, 105])
        #expect(await self.batches(limit: 3, critical: [], others: [1, 2, 3, 4]).map(\.count) == [3, 1])
    }
}
