import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Following attempts")
struct AttemptTailTests {
    @Test("begins with the newest, then shows what is new, and again what moved on")
    func follows() async throws {
        try await withAttempts { store in
            _ = try await store.write((0..<5).map { Sample.attempt("a-\($0)", at: Sample.now - .seconds(50 - Int64($0) * 10)) })
            var tail = AttemptTail(filter: .init(), since: Sample.now - .seconds(3600))
            #expect(try await tail.last(3, now: Sample.now, on: store.pool).map(\.attemptId) == ["a-2", "a-3", "a-4"])
            #expect(try await tail.next(now: Sample.now, on: store.pool).isEmpty)

            _ = try await store.write([Sample.attempt("b", status: .queued, at: Sample.now + .seconds(1))])
            #expect(try await tail.next(now: Sample.now + .seconds(2), on: store.pool).map(\.attemptId) == ["b"])
            // A report that comes a little late, behind what was shown last; and progress.
            _ = try await store.write([
                Sample.attempt("late", at: Sample.now - .seconds(5)), Sample.attempt("b", at: Sample.now + .seconds(1)),
            ])
            #expect(try await tail.next(now: Sample.now + .seconds(3), on: store.pool).map(\.attemptId) == ["late", "b"])
            #expect(try await tail.next(now: Sample.now + .seconds(4), on: store.pool).isEmpty)
        }
    }

    @Test("a report that comes five days late is shown when it comes, once, and not those that were there before")
    func late() async throws {
        try await withAttempts(days: 6) { store in
            let late = Sample.now - .seconds(5 * 86_400)
            _ = try await store.write([Sample.attempt("there-before", at: late)], receivedAt: Sample.now - .seconds(60))
            var tail = AttemptTail(filter: .init(), since: Sample.now - .seconds(3600))
            #expect(try await tail.last(0, now: Sample.now, on: store.pool).isEmpty)
            _ = try await store.write([Sample.attempt("late", at: late)], receivedAt: Sample.now + .seconds(1))
            #expect(try await tail.next(now: Sample.now + .seconds(2), on: store.pool).map(\.attemptId) == ["late"])
            for second in [3, 30, 61, 62, 90, 200] as [Int64] {
                #expect(try await tail.next(now: Sample.now + .seconds(second), on: store.pool).isEmpty)
            }
        }
    }

    @Test("a round that has more than its limit says so, also when late ones come too; a busy minute of many rounds does not")
    func leavesOut() async throws {
        try await withAttempts(days: 6) { store in
            func attempts(_ count: Int, _ name: String, at: Timestamp) -> [Attempt] {
                (0..<count).map { Sample.attempt("\(name)-\($0)", at: at) }
            }
            var tail = AttemptTail(filter: .init(), since: Sample.now - .seconds(3600))
            _ = try await tail.last(0, now: Sample.now, on: store.pool)
            for second in [1, 2] as [Int64] {
                let now = Sample.now + .seconds(second)
                _ = try await store.write(attempts(600, "second-\(second)", at: now), receivedAt: now)
                #expect(try await tail.next(now: now, on: store.pool).count == 600)
                #expect(!tail.leftSomeOut)
            }
            let now = Sample.now + .seconds(3)
            let late = attempts(3, "late", at: Sample.now - .seconds(5 * 86_400))
            _ = try await store.write(attempts(1001, "many", at: now) + late, receivedAt: now)
            #expect(try await tail.next(now: now, on: store.pool).count == 1003)
            #expect(tail.leftSomeOut)
            #expect(try await tail.next(now: now + .seconds(1), on: store.pool).isEmpty)
            #expect(!tail.leftSomeOut)
        }
    }

    @Test("nothing to begin with means nothing old")
    func beginsEmpty() async throws {
        try await withAttempts { store in
            _ = try await store.write([Sample.attempt("old", at: Sample.now - .seconds(5))])
            var tail = AttemptTail(filter: .init(), since: Sample.now - .seconds(3600))
            #expect(try await tail.last(0, now: Sample.now, on: store.pool).isEmpty)
            #expect(try await tail.next(now: Sample.now, on: store.pool).isEmpty)
        }
    }

    @Test("keeps to one person and one reason")
    func filters() async throws {
        try await withAttempts { store in
            _ = try await store.write([
                Sample.attempt("a", uid: "u-1", status: .failed, reason: .network), Sample.attempt("b", uid: "u-1"),
                Sample.attempt("c", uid: "u-2", status: .failed, reason: .network),
            ])
            func last(_ filter: AttemptTail.Filter) async throws -> Set<String> {
                var tail = AttemptTail(filter: filter, since: Sample.now - .seconds(3600))
                return Set(try await tail.last(10, now: Sample.now, on: store.pool).map(\.attemptId))
            }
            #expect(try await last(.init(uid: "u-1")) == ["a", "b"])
            #expect(try await last(.init(reason: .network)) == ["a", "c"])
            #expect(try await last(.init(uid: "u-2", reason: .auth)) == [])
        }
    }
}
