package import Logging
package import Postgres
import PushContract
package import ServiceKit
import ServiceLifecycle

/// Takes in the sends of callers: what comes at once is stored in one transaction, critical sends first, and goes straight to its provider
/// where this process has slots for it and nothing waits before it.
///
/// Large requests have a transaction of their own, so that nobody waits for them, and never all connections. Without `run` all have one. A
/// request that needs a lock which others hold is tried again by itself, so that the others do not wait with it.
package struct EnqueueService: Service {
    /// How long a transaction of several requests waits for a lock: longer than a commit usually takes.
    package static let lockLimit = Duration.milliseconds(100)
    /// Between two tries of a request that needs a lock.
    private static let lockPause = Duration.milliseconds(100)
    /// Requests in one transaction at most.
    private static let limit = 250
    /// A request with more sends has a transaction of its own.
    private static let largest = 20
    /// Three writers of attempts keep a connection each; one is left to small requests, one to those that wait for locks, one to all else,
    /// and one or more to large requests.
    package static let leastConnections = 7
    /// As many parts of a request have time in any case.
    private static let fewParts = 10
    private static let late = PostgresError(.lockNotAvailable, "the time for this request was over before its lock was free")

    private let writer: SendPostWriter
    private let group: GroupCommit<ExpectedPost, SendPostWriter.Answer>
    /// Requests that met a lock: each in a transaction of its own, all on one connection. Those that come first go before those that were
    /// tried before.
    private let locked: GroupCommit<ExpectedPost, SendPostWriter.Answer>
    /// Of large requests.
    private let turns: Turns

    /// - Parameters:
    ///   - check: refuses what a provider would refuse.
    ///   - dispatcher: of this process, if it sends.
    ///   - wake: the dispatcher's.
    ///   - lockLimit: nil for tests that make requests wait for each other.
    package init(
        store: SendStore,
        check: @escaping SendStore.PayloadCheck = SendValidation.check,
        dispatcher: SendDispatcher? = nil,
        wake: WakeSignal,
        lockLimit: Duration? = EnqueueService.lockLimit,
        logger: Logger
    ) {
        let writer = SendPostWriter(store: store, check: check, dispatcher: dispatcher, wake: wake, logger: logger)
        self.writer = writer
        turns = Turns(Self.turns(connections: store.pool.configuration.maxConnections))
        group = GroupCommit(limit: Self.limit) { posts in
            await WorkDeadline.$current.withValue(WorkDeadline(WorkDeadline.requestLimit)) {
                await writer.write(posts, lockLimit: lockLimit)
            }
        }
        locked = GroupCommit(limit: Self.fewParts) { posts in
            await WorkDeadline.$current.withValue(WorkDeadline(WorkDeadline.requestLimit)) {
                var answers: [SendPostWriter.Answer] = []
                for post in posts { answers += post.isLate ? [.failure(Self.late)] : await writer.write([post], lockLimit: lockLimit) }
                return answers
            }
        }
    }

    package func run() async throws {
        group.open()
        locked.open()
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await group.run() }
            tasks.addTask { await locked.run() }
            try? await gracefulShutdown()
            group.close()
            locked.close()
            await tasks.waitForAll()
        }
    }

    /// How many large requests are stored at a time.
    static func turns(connections: Int) -> Int { max(1, connections - leastConnections + 1) }

    /// Requests that wait for a transaction.
    var waiting: Int { group.count }
    /// Large ones that wait for others of them.
    var waitingForTurns: Int { turns.waiting }

    /// Returns when the sends are stored. Throws `StoredInPart` where those of a part are, and the next could not be.
    func submit(_ post: SendPost) async throws -> [SendReceipt] {
        var parts = post.parts
        if parts.count > Self.fewParts {
            // Those that a request of before has stored are one part: else a large one that is repeated would never get further than it
            // did.
            let known = try await writer.store.known(post.requests.map(\.sendId))
            let stored = parts.prefix { part in part.requests.allSatisfy { known.contains($0.sendId) } }
            parts.removeFirst(stored.count)
            if var first = stored.first {
                first.requests = stored.flatMap(\.requests)
                parts.insert(first, at: 0)
            }
        }
        var receipts: [SendReceipt] = []
        for part in parts {
            do {
                receipts += try await submit(part: part)
            } catch let error as PostgresError where !receipts.isEmpty {
                throw StoredInPart(sends: receipts.count, error: error)
            }
        }
        return receipts
    }

    private func submit(part post: SendPost) async throws -> [SendReceipt] {
        let isOne = post.requests.allSatisfy(\.target.isOne)
        let isCritical = post.requests.contains { $0.deliveryClass == .critical }
        let expected = ExpectedPost(post: post, sends: isOne && !isCritical ? await writer.expectSlots(post.requests.count) : 0)
        guard isOne, post.requests.count <= Self.largest else { return try await submit(large: expected) }
        if let answer = await group.submitIfOpen(expected, isCritical: isCritical) {
            do { return try answer.get() } catch let error as PostgresError where error.code == .lockNotAvailable {
                return try await submit(locked: post)
            }
        }
        return try await writer.write([expected])[0].get()
    }

    private func submit(large expected: ExpectedPost) async throws -> [SendReceipt] {
        let end = WorkDeadline.current?.end ?? .now + WorkDeadline.requestLimit
        if let answer = await turns.run(before: end, { await writer.write([expected])[0] }) { return try answer.get() }
        writer.settleExpected(expected.sends)
        throw PostgresError(.poolExhausted, "other large requests took the time for this one")
    }

    /// Tries until the lock is free, or the time for the request is over.
    private func submit(locked post: SendPost) async throws -> [SendReceipt] {
        let end = WorkDeadline.current?.end ?? .now + WorkDeadline.requestLimit
        let expected = ExpectedPost(post: post, sends: 0, end: end)
        var wasTried = false
        while let answer = await locked.submitIfOpen(expected, isCritical: !wasTried) {
            do { return try answer.get() } catch let error as PostgresError
                where error.code == .lockNotAvailable && end - .now > Self.lockPause
            {
                wasTried = true
                try await Task.sleep(for: Self.lockPause)
            }
        }
        return try await writer.write([expected])[0].get()
    }
}

/// The first sends of a request are stored; the others could not be.
package struct StoredInPart: Error {
    package var sends: Int
    package var error: PostgresError
}

/// A request and for how many of its sends slots are expected: none where it is critical, as those have slots of their own and do not wait.
private struct ExpectedPost {
    var post: SendPost
    var sends: Int
    /// Of one that waits for a lock: when its caller is to have an answer.
    var end: ContinuousClock.Instant?

    var isLate: Bool { end.map { $0 <= .now } ?? false }
}

/// Writes what several callers sent, whatever one of them sent.
private struct SendPostWriter: Sendable {
    typealias Answer = Result<[SendReceipt], any Error>

    let store: SendStore
    let check: SendStore.PayloadCheck
    let dispatcher: SendDispatcher?
    let wake: WakeSignal
    let logger: Logger

    /// Waits for slots for so many sends.
    ///
    /// - Returns: for how many slots are expected now.
    func expectSlots(_ sends: Int) async -> Int {
        guard let dispatcher else { return 0 }
        await dispatcher.expectSlots(sends)
        return sends
    }

    func settleExpected(_ sends: Int) { dispatcher?.settleExpected(sends) }

    /// An answer for each.
    ///
    /// - Parameter lockLimit: those that wait longer for a lock, or may be what waited, are answered `lockNotAvailable`.
    func write(_ expected: [ExpectedPost], lockLimit: Duration? = nil) async -> [Answer] {
        let posts = expected.map(\.post)
        let direct = dispatcher.map { DirectLeases(for: $0, expected: expected.reduce(0) { $0 + $1.sends }) }
        defer { direct?.settleExpected() }
        var answers: [Answer?] = Array(repeating: nil, count: posts.count)
        // One of two that name the same send is a repetition of the other, and that is known when the other is stored.
        var sendIds = Set<String>(minimumCapacity: posts.count)
        var together = posts.indices.filter { index in
            posts[index].requests.reduce(true) { isNew, request in sendIds.insert(request.sendId).inserted && isNew }
        }
        while !together.isEmpty {
            do {
                let receipts = try await store(together.map { posts[$0] }, direct, lockLimit)
                for (index, own) in zip(together, receipts) { answers[index] = .success(own) }
            } catch let error as PostgresError where error.code == .lockNotAvailable && lockLimit != nil {
                // Most locks are those of keys.
                let waiting = together.filter { posts[$0].needsKeys }
                for index in waiting.isEmpty ? together : waiting { answers[index] = .failure(error) }
            } catch let error as PostgresError where together.count > 1 && !error.isUnavailable {
                logger.warning("sends of several requests could not be stored together, trying one by one", metadata: ["error": "\(error)"])
                break
            } catch {
                for index in together { answers[index] = .failure(error) }
            }
            together.removeAll { answers[$0] != nil }
        }
        for index in posts.indices where answers[index] == nil {
            do {
                answers[index] = .success(try await store([posts[index]], direct, lockLimit)[0])
            } catch {
                answers[index] = .failure(error)
            }
        }
        return answers.map { $0 ?? .failure(CancellationError()) }
    }

    private func store(_ posts: [SendPost], _ direct: DirectLeases?, _ lockLimit: Duration?) async throws -> [[SendReceipt]] {
        do {
            let receipts = try await store.enqueue(posts, direct: direct, lockLimit: lockLimit, check: check)
            let started = direct?.start() ?? 0
            if receipts.joined().reduce(0, { $0 + $1.newDeliveries }) > started { wake.signal() }
            return receipts
        } catch {
            direct?.reset()
            throw error
        }
    }
}

extension SendReceipt {
    fileprivate var newDeliveries: Int { if case .accepted(let deliveries, _) = self { deliveries } else { 0 } }
}
