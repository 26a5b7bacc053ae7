package import Logging
package import Postgres
import PushContract
package import ServiceKit
import ServiceLifecycle

/// Takes in the sends of callers: what comes at once is stored in one transaction, critical sends first, and goes straight to its provider
/// where this process has slots for it and nothing waits before it.
///
/// Large requests have a transaction of their own, so that nobody waits for them. Without `run` all have one.
package struct EnqueueService: Service {
    /// Requests in one transaction at most.
    private static let limit = 250
    /// A request with more sends has a transaction of its own.
    private static let largest = 20
    /// As many parts of a request have time in any case.
    private static let fewParts = 10

    private let writer: SendPostWriter
    private let group: GroupCommit<ExpectedPost, SendPostWriter.Answer>

    /// - Parameters:
    ///   - check: refuses what a provider would refuse.
    ///   - dispatcher: of this process, if it sends.
    ///   - wake: the dispatcher's.
    package init(
        store: SendStore,
        check: @escaping SendStore.PayloadCheck = SendValidation.check,
        dispatcher: SendDispatcher? = nil,
        wake: WakeSignal,
        logger: Logger
    ) {
        let writer = SendPostWriter(store: store, check: check, dispatcher: dispatcher, wake: wake, logger: logger)
        self.writer = writer
        group = GroupCommit(limit: Self.limit) { posts in
            await WorkDeadline.$current.withValue(WorkDeadline(WorkDeadline.requestLimit)) { await writer.write(posts) }
        }
    }

    package func run() async throws {
        group.open()
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await group.run() }
            try? await gracefulShutdown()
            group.close()
            await tasks.waitForAll()
        }
    }

    /// Requests that wait for a transaction.
    var waiting: Int { group.count }

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
        if isOne, post.requests.count <= Self.largest, let answer = await group.submitIfOpen(expected, isCritical: isCritical) {
            return try answer.get()
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

    /// An answer for each.
    func write(_ expected: [ExpectedPost]) async -> [Answer] {
        let posts = expected.map(\.post)
        let direct = dispatcher.map { DirectLeases(for: $0, expected: expected.reduce(0) { $0 + $1.sends }) }
        defer { direct?.settleExpected() }
        var answers: [Answer?] = Array(repeating: nil, count: posts.count)
        // One of two that name the same send is a repetition of the other, and that is known when the other is stored.
        var sendIds = Set<String>(minimumCapacity: posts.count)
        let together = posts.indices.filter { index in
            posts[index].requests.reduce(true) { isNew, request in sendIds.insert(request.sendId).inserted && isNew }
        }
        do {
            let receipts = try await store(together.map { posts[$0] }, direct)
            for (index, own) in zip(together, receipts) { answers[index] = .success(own) }
        } catch let error as PostgresError where together.count > 1 && !error.isUnavailable {
            logger.warning("sends of several requests could not be stored together, trying one by one", metadata: ["error": "\(error)"])
        } catch {
            for index in together { answers[index] = .failure(error) }
        }
        for index in posts.indices where answers[index] == nil {
            do {
                answers[index] = .success(try await store([posts[index]], direct)[0])
            } catch {
                answers[index] = .failure(error)
            }
        }
        return answers.map { $0 ?? .failure(CancellationError()) }
    }

    private func store(_ posts: [SendPost], _ direct: DirectLeases?) async throws -> [[SendReceipt]] {
        do {
            let receipts = try await store.enqueue(posts, direct: direct, check: check)
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
