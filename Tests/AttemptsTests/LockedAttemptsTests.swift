import Postgres
import PushContract
import ServiceKit
import TestDatabase
import TestSupport
import Testing

@testable import Attempts

@Suite(
    "Attempts whose keys another transaction holds",
    .disabled(if: TestEngine.isDistributed, "keys are held on the workers, whose sessions have no limit for locks")
)
struct LockedAttemptsTests {
    private func held(_ request: Int, count: Int) throws -> AttemptBatch {
        try Sample.batch((0..<count).map { Sample.attempt("held-\(request)-\($0)") })
    }

    /// Runs an ingestor while another transaction has stored `held` attempts and does not commit.
    private func withHeldKeys(
        _ held: [AttemptBatch],
        limits: IngestLimits,
        _ body: (AttemptIngestor, PostgresTransaction, AttemptDatabase) async throws -> Void
    ) async throws {
        try await withAttempts { store in
            let ingestor = AttemptIngestor(
                pool: store.pool,
                maintenance: store.maintenance,
                firstSlot: 0,
                limits: limits,
                logger: .silent,
                now: { Sample.now }
            )
            let running = Task { try await ingestor.run() }
            // From here on the ingestor expects new keys.
            #expect(try await ingestor.submit(try Sample.batch([Sample.attempt("usual")])) == [.accepted])
            try await store.pool.withTransaction { blocker in
                for batch in held {
                    let stored = try await blocker.connection.perform {
                        try AttemptWriter.write(batch, on: $0, slot: 8, receivedAt: Sample.now)
                    }
                    #expect(stored == Array(repeating: .accepted, count: batch.count))
                }
                try await body(ingestor, blocker, store)
            }
            running.cancel()
            _ = await running.result
        }
    }

    @Test(
        "delay no others, however many requests have some; they are stored, or are duplicates, when the transaction is over",
        .timeLimit(.minutes(1)),
        arguments: [1, 40],
        ["COMMIT", "ROLLBACK"]
    )
    func others(count: Int, end: String) async throws {
        var limits = IngestLimits()
        limits.answerWithin = .seconds(600)
        let requests = 6
        let held = try (0..<requests).map { try self.held($0, count: count) }
        try await withHeldKeys(held, limits: limits) { ingestor, blocker, store in
            try await withThrowingTaskGroup(of: [AttemptResult].self) { tasks in
                for request in 0..<requests {
                    tasks.addTask { try await ingestor.submit(held[request]) }
                    let other = try Sample.batch((0..<count).map { Sample.attempt("other-\(request)-\($0)") })
                    #expect(try await ingestor.submit(other) == Array(repeating: .accepted, count: count))
                }
                try await blocker.execute("\(raw: end)")
                let expected: AttemptResult = end == "COMMIT" ? .duplicate : .accepted
                for try await results in tasks { #expect(results == Array(repeating: expected, count: count)) }
            }
            try await store.expectRollupsEqualRecount(total: 1 + 2 * requests * count)
        }
    }

    @Test("are answered as unavailable when their time is over, and stored when they come again", .timeLimit(.minutes(1)))
    func late() async throws {
        var limits = IngestLimits()
        limits.answerWithin = .milliseconds(300)
        let held = try held(0, count: 1)
        try await withHeldKeys([held], limits: limits) { ingestor, blocker, store in
            let error = await #expect(throws: PostgresError.self) { _ = try await ingestor.submit(held) }
            #expect(error?.isUnavailable == true || error?.isSerializationConflict == true)
            try await blocker.execute("ROLLBACK")
            try await eventually("it is stored") { (try? await ingestor.submit(held)) != nil }
            try await store.expectRollupsEqualRecount(total: 2)
        }
    }

    @Test("a transaction that met a lock is halved until it is known who needs it; those that were tried come last, after a pause")
    func halves() async throws {
        var limits = IngestLimits()
        limits.waitLimit = .seconds(3600)
        let queue = IngestQueue(limits: limits)
        let batch = try Sample.batch([Sample.attempt()])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await queue.submit(batch) }
            let first = await queue.take()
            for waiting in 1...3 {
                group.addTask { _ = try await queue.submit(batch) }
                try await eventually("it waits") { queue.waitingRows == waiting }
            }
            queue.finish(first)
            let three = await queue.take()
            #expect(three.count == 3)

            let now = ContinuousClock.now
            var locked = LockedEntries()
            func take(after pause: Duration = .zero) -> Int? {
                defer { locked.isTaken = false }
                guard let entries = locked.take(now: now + pause, isLast: false) else { return nil }
                return locked.add(entries, limits: limits, now: now) ? entries.count : nil
            }
            let hasRoom = locked.add(three, limits: limits, now: now)
            #expect(hasRoom)
            // 1 and 2; the 1 is tried by itself, then the 2 is halved.
            let tries = [take(), take(), take(), take(), take(), take(after: LockedEntries.pause)]
            #expect(tries == [1, 2, 1, 1, nil, 1])
            let last = locked.take(now: now, isLast: true)
            #expect(last?.count == 1, "nothing else will come")
            let another = locked.take(now: now, isLast: true)
            #expect(another?.count == nil, "one writer at a time")
            locked.isTaken = false
            let dropped = locked.removeLate(now: now + limits.answerWithin + .seconds(600))
            #expect(dropped == 2 && locked.rows == 0)
            let late = locked.take(now: now, isLast: true)
            #expect(late?.count == nil)

            for entry in first + three { entry.answer.give(.success([.accepted])) }
            try await group.waitForAll()
        }
    }

    @Test("one writer tries them, the next takes what has come meanwhile")
    func oneWriter() async throws {
        var limits = IngestLimits()
        limits.waitLimit = .seconds(3600)
        let queue = IngestQueue(limits: limits)
        let batch = try Sample.batch([Sample.attempt()])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await queue.submit(batch) }
            let first = await queue.take()
            queue.addLocked(first, because: PostgresError(.lockNotAvailable, "held"))
            queue.finish(first)
            #expect(queue.waitingRows == 1, "what waits for a lock waits to be written")
            let locked = await queue.take()
            #expect(queue.waitingRows == 0)
            #expect(locked.map(\.isLocked) == [true])
            group.addTask { _ = try await queue.submit(batch) }
            let other = await queue.take()
            #expect(other.map(\.isLocked) == [false])
            queue.finish(other)
            for entry in locked + other { entry.answer.give(.success([.accepted])) }
            try await group.waitForAll()
        }
    }

    @Test("when nothing else will come they are tried without a pause, and the writers end when none is left", .timeLimit(.minutes(1)))
    func closed() async throws {
        let queue = IngestQueue(limits: IngestLimits())
        let batch = try Sample.batch([Sample.attempt()])
        async let answer = queue.submit(batch)
        // As it comes, alone, and after a pause.
        for _ in 0..<2 {
            let taken = await queue.take()
            queue.addLocked(taken, because: PostgresError(.lockNotAvailable, "held"))
            queue.finish(taken)
        }
        queue.close()
        let last = await queue.take()
        #expect(last.map(\.isLocked) == [true])
        let other = await queue.take()
        #expect(other.isEmpty, "one writer tries them; another has nothing more to do")
        queue.addLocked(last, because: PostgresError(.lockNotAvailable, "held"))
        queue.finish(last)
        let again = await queue.take()
        #expect(again.count == 1)
        for entry in again { entry.answer.give(.success([.accepted])) }
        queue.finish(again)
        let none = await queue.take()
        #expect(none.isEmpty)
        #expect(try await answer == [.accepted])
    }

    @Test("of those that wait for locks there is a limit: who comes then is answered at once")
    func limit() async throws {
        var limits = IngestLimits()
        limits.waitingRows = 2
        limits.waitLimit = .zero
        let queue = IngestQueue(limits: limits)
        let batch = try Sample.batch([Sample.attempt()])
        let code = try await withThrowingTaskGroup(of: PostgresError.Code?.self) { group in
            let submit: @Sendable () async -> PostgresError.Code? = {
                do {
                    _ = try await queue.submit(batch)
                    return nil
                } catch {
                    return (error as? PostgresError)?.code
                }
            }
            group.addTask { await submit() }
            let first = await queue.take()
            group.addTask { await submit() }
            let second = await queue.take()
            var refused: [Int] = []
            for taken in [first, second] {
                refused.append(queue.addLocked(taken, because: PostgresError(.lockNotAvailable, "held")))
                queue.finish(taken)
            }
            #expect(refused == [0, 1])
            let code = try await group.next() ?? nil
            for entry in await queue.take() { entry.answer.give(.success([.accepted])) }
            try await group.waitForAll()
            return code
        }
        #expect(code == .lockNotAvailable)
    }
}
