import Foundation
import Postgres
import PushContract
import Synchronization
import TestSupport
import Testing

@testable import Attempts

@Suite("What waits to be written is bounded")
struct IngestQueueTests {
    private func queue(rows: Int = 1000, bytes: Int = 64 << 20) -> IngestQueue {
        var limits = IngestLimits()
        limits.waitingRows = rows
        limits.waitingBytes = bytes
        return IngestQueue(limits: limits)
    }

    /// Submits batches that nobody takes; how many were let in. Then answers them all.
    private func fill(_ queue: IngestQueue, with batch: AttemptBatch, times: Int) async -> (accepted: Int, refused: Int) {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<times {
                group.addTask { (try? await queue.submit(batch)) != nil }
            }
            var refused = 0
            while let accepted = await group.next() {
                refused += accepted ? 0 : 1
                // The others have been let in and wait.
                if queue.waitingRows == (times - refused) * batch.count { break }
            }
            queue.close()
            while case let entries = await queue.take(), !entries.isEmpty {
                for entry in entries { entry.answer.give(.success([])) }
            }
            var accepted = 0
            while let answer = await group.next() { accepted += answer ? 1 : 0 }
            return (accepted, refused)
        }
    }

    @Test("never more rows than the limit, however many requests come at once")
    func rows() async throws {
        let batch = try Sample.batch((0..<100).map { Sample.attempt("a-\($0)") })
        let (accepted, refused) = await fill(queue(rows: 1000), with: batch, times: 64)
        #expect(accepted == 10 && refused == 54)
    }

    @Test("never more bytes than the limit")
    func bytes() async throws {
        let batch = try Sample.batch((0..<100).map { Sample.attempt("a-\($0)", uid: String(repeating: "u", count: 200)) })
        let (accepted, refused) = await fill(queue(bytes: batch.byteCount * 5 + 1), with: batch, times: 20)
        #expect(accepted == 5 && refused == 15)
    }

    @Test("a full queue says so for a body of known and of unknown length; an empty one takes any")
    func admission() async throws {
        let batch = try Sample.batch((0..<100).map { Sample.attempt("a-\($0)") })
        let queue = queue(rows: 100, bytes: 1 << 20)
        #expect(queue.refusal(bodyBytes: 10 << 20) == nil)
        async let waiting = queue.submit(batch)
        try await eventually("it waits") { queue.waitingRows > 0 }
        #expect(queue.refusal(bodyBytes: 1) == .full)
        #expect(queue.refusal(bodyBytes: nil) == .full)
        #expect(queue.refusal(bodyBytes: .max) == .full)
        for entry in await queue.take() { entry.answer.give(.success([])) }
        _ = try await waiting
        #expect(queue.refusal(bodyBytes: 1) == nil)
        queue.close()
        #expect(queue.refusal(bodyBytes: 1) == .shuttingDown)
    }

    @Test("a length beyond what may wait is refused, however large the number")
    func largestLength() async throws {
        let batch = try Sample.batch([Sample.attempt()])
        let queue = queue()
        async let first = queue.submit(batch)
        async let second = queue.submit(batch)
        try await eventually("both wait") { queue.waitingRows == 2 }
        #expect(queue.refusal(bodyBytes: .max) == .full)
        #expect(queue.refusal(bodyBytes: 1) == nil)
        queue.close()
        for entry in await queue.take() { entry.answer.give(.success([])) }
        _ = try await (first, second)
    }

    @Test("what comes while one writer is at work waits for it, until there is enough for a second")
    func writers() async throws {
        var limits = IngestLimits()
        limits.rowsPerFurtherWriter = 30
        limits.waitLimit = .seconds(3600)
        try await secondWriterBegins(IngestQueue(limits: limits))
    }

    @Test("where tables are distributed, rows wait until they fill a transaction", .timeLimit(.minutes(1)))
    func distributedWriters() async throws {
        var limits = IngestLimits()
        limits.rowsPerTransaction = 30
        limits.rowsPerFurtherWriter = 10
        limits.waitLimit = .seconds(3600)
        let queue = IngestQueue(limits: limits)
        #expect(queue.lockLimit(of: []) != nil)
        queue.adapt(to: .citus(shards: 4))
        #expect(queue.lockLimit(of: []) == nil, "transactions wait for each other's locks of shards")
        try await secondWriterBegins(queue)
    }

    /// With the thirtieth row, in batches of ten.
    private func secondWriterBegins(_ queue: IngestQueue) async throws {
        let batch = try Sample.batch((0..<10).map { Sample.attempt("a-\($0)") })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await queue.submit(batch) }
            let first = await queue.take()
            #expect(first.count == 1)
            async let second = queue.take()
            for rows in [10, 20] {
                group.addTask { _ = try await queue.submit(batch) }
                try await eventually("it waits") { queue.waitingRows == rows }
            }
            group.addTask { _ = try await queue.submit(batch) }
            // The thirtieth row wakes the second writer, which takes all.
            let taken = await second
            #expect(taken.count == 3 && queue.waitingRows == 0)
            for entry in first + taken { entry.answer.give(.success([])) }
            try await group.waitForAll()
        }
    }

    @Test(
        "an answer that is due is given, whatever the database does: what nobody has taken is dropped, what a writer has is answered once"
    )
    func expiry() async throws {
        var limits = IngestLimits()
        limits.waitLimit = .seconds(3600)
        let queue = IngestQueue(limits: limits)
        let batch = try Sample.batch([Sample.attempt()])
        try await withThrowingTaskGroup(of: PostgresError.Code?.self) { group in
            let submit: @Sendable () async -> PostgresError.Code? = {
                do {
                    _ = try await queue.submit(batch)
                    return nil
                } catch {
                    return (error as? PostgresError)?.code
                }
            }
            group.addTask { await submit() }
            let taken = await queue.take()
            group.addTask { await submit() }
            try await eventually("it waits") { queue.waitingRows > 0 }
            #expect(queue.expire())
            #expect(queue.waitingRows == 1)
            #expect(queue.expire(now: .now + limits.answerWithin))
            #expect(queue.waitingRows == 0)
            for try await code in group { #expect(code == .callTimeout) }
            for entry in taken { entry.answer.give(.success([.accepted])) }
            queue.close()
            #expect(!queue.expire())
        }
    }

    @Test("a writer gives its connection back when there is no work for a while, and goes on when there is", .timeLimit(.minutes(1)))
    func idleWriter() async throws {
        var limits = IngestLimits()
        limits.idleLimit = .milliseconds(1)
        let queue = IngestQueue(limits: limits)
        let batch = try Sample.batch([Sample.attempt()])
        async let first = queue.submit(batch)
        let taken = await queue.take()
        for entry in taken { entry.answer.give(.success([.accepted])) }
        #expect(try await first == [.accepted])
        #expect(queue.finishAndTakeBlocking(taken).isEmpty)
        async let second = queue.submit(batch)
        for entry in await queue.take() { entry.answer.give(.success([.duplicate])) }
        #expect(try await second == [.duplicate])
    }

    @Test("a writer lets others run while fewer rows wait than it has written, but not for long", .timeLimit(.minutes(1)))
    func yielding() async throws {
        let batch = try Sample.batch([Sample.attempt()])
        let turns = Mutex(0)
        /// What the others do in the second turn.
        let others = Mutex<@Sendable () -> Void>({})
        let queue = IngestQueue(limits: IngestLimits()) {
            let turn = turns.withLock { turns in
                turns += 1
                return turns
            }
            if turn == 2 { others.withLock { $0 }() }
        }
        others.withLock { others in
            others = {
                for _ in 0..<2 { Task { _ = try await queue.submit(batch) } }
                while queue.waitingRows < 3 { usleep(100) }
            }
        }
        /// The writer's next entries on a thread of its own, while so many rows wait.
        func next(after done: [IngestQueue.Entry], waiting rows: Int) async throws -> [IngestQueue.Entry] {
            for _ in 0..<rows { Task { _ = try await queue.submit(batch) } }
            try await eventually("they wait") { queue.waitingRows == rows }
            let entries = await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: queue.finishAndTakeBlocking(done)) }
            }
            for entry in entries { entry.answer.give(.success([.accepted])) }
            return entries
        }
        for _ in 0..<3 { Task { _ = try await queue.submit(batch) } }
        try await eventually("three wait") { queue.waitingRows == 3 }
        let first = await queue.take()
        for entry in first { entry.answer.give(.success([.accepted])) }
        let second = try await next(after: first, waiting: 1)
        #expect(second.count == 3 && turns.withLock { $0 } == 2)
        let third = try await next(after: second, waiting: 3)
        #expect(third.count == 3 && turns.withLock { $0 } == 2, "as many wait already")
        let fourth = try await next(after: third, waiting: 1)
        #expect(fourth.count == 1 && turns.withLock { $0 } == 6, "nothing comes")
    }

    @Test("a writer that hangs does not keep others from beginning")
    func waitLimit() async throws {
        var limits = IngestLimits()
        limits.waitLimit = .zero
        let queue = IngestQueue(limits: limits)
        let batch = try Sample.batch([Sample.attempt()])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await queue.submit(batch) }
            let hanging = await queue.take()
            group.addTask { _ = try await queue.submit(batch) }
            let other = await queue.take()
            #expect(other.count == 1)
            for entry in hanging + other { entry.answer.give(.success([])) }
            try await group.waitForAll()
        }
    }

    @Test("a writer that hangs does not keep waiting rows from being written, also without further arrivals")
    func waitLimitWithoutArrivals() async throws {
        var limits = IngestLimits()
        limits.waitLimit = .seconds(3600)
        limits.answerWithin = .seconds(86_400)
        let queue = IngestQueue(limits: limits)
        let batch = try Sample.batch([Sample.attempt()])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await queue.submit(batch) }
            let hanging = await queue.take()
            group.addTask { _ = try await queue.submit(batch) }
            try await eventually("it waits") { queue.waitingRows == 1 }
            async let other = queue.take()
            #expect(queue.expire() && queue.waitingRows == 1)
            let end = ContinuousClock.now + limits.waitLimit + .seconds(1)
            // Again and again: the other writer may not be idle yet.
            try? await eventually("it is taken") { queue.expire(now: end) && queue.waitingRows == 0 }
            queue.close()
            let taken = await other
            let left = await queue.take()
            #expect(taken.count == 1 && left.isEmpty)
            for entry in hanging + taken + left { entry.answer.give(.success([])) }
            try await group.waitForAll()
        }
    }
}
