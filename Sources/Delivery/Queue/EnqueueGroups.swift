import Postgres
import PushContract
package import ServiceKit
import ServiceLifecycle

/// Sends that one request asks for.
package struct EnqueueRequest: Sendable {
    var sends: [SendRequest]
    var requestId: String
    var author: String
    var now: Timestamp
}

/// Takes sends: requests that arrive while a transaction is under way share the next one, and each is answered after the commit.
///
/// A large request, and one to many people, has a transaction of its own: the others would wait for it.
package struct EnqueueGroups: Service {
    /// Requests of a transaction, and sends of a request that shares one, at most.
    private static let groupLimit = 100
    private static let sharedSends = 20

    private let store: SendStore
    private let check: SendStore.PayloadCheck
    private let leases: DirectLeases
    private let wake: WakeSignal
    let group: GroupCommit<EnqueueRequest, Result<[SendReceipt], any Error>>

    /// - Parameters:
    ///   - check: refuses what a provider would refuse.
    ///   - leases: those of the dispatcher, if it runs in this process.
    ///   - wake: the dispatcher's.
    package init(
        store: SendStore,
        check: @escaping SendStore.PayloadCheck = { SendValidation.check($0, provider: $1, platform: $2, app: $3) },
        leases: DirectLeases = DirectLeases(),
        wake: WakeSignal = WakeSignal()
    ) {
        self.store = store
        self.check = check
        self.leases = leases
        self.wake = wake
        group = GroupCommit(limit: Self.groupLimit) { [store, check, leases, wake] requests in
            await Self.write(requests) { try await Self.enqueue($0, store, check, leases, wake) }
        }
    }

    /// The receipts of a request's sends; they are durable when this returns.
    func enqueue(_ request: EnqueueRequest) async throws -> [SendReceipt] {
        guard !request.sends.isEmpty else { return [] }
        let isShared = request.sends.count <= Self.sharedSends && request.sends.allSatisfy { FanOut($0, now: request.now) == nil }
        if isShared, let receipts = await group.submitIfOpen(request) { return try receipts.get() }
        return try await Self.enqueue([request], store, check, leases, wake)[0]
    }

    /// Groups requests until shutdown; then what waits is stored.
    package func run() async throws {
        await group.open()
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { [group] in await group.run() }
            try? await gracefulShutdown()
            await group.close()
        }
    }

    /// A request that cannot be stored must not fail another's: then each has a transaction of its own.
    private static func write(
        _ requests: [EnqueueRequest],
        _ enqueue: ([EnqueueRequest]) async throws -> [[SendReceipt]]
    ) async -> [Result<[SendReceipt], any Error>] {
        do {
            return try await enqueue(requests).map { .success($0) }
        } catch let error where requests.count == 1 || (error as? PostgresError)?.isUnavailable ?? true {
            return requests.map { _ in .failure(error) }
        } catch {
            var results: [Result<[SendReceipt], any Error>] = []
            for request in requests { results += await write([request], enqueue) }
            return results
        }
    }

    private static func enqueue(
        _ requests: [EnqueueRequest],
        _ store: SendStore,
        _ check: @escaping SendStore.PayloadCheck,
        _ leases: DirectLeases,
        _ wake: WakeSignal
    ) async throws -> [[SendReceipt]] {
        let reservation = DirectReservation(leases)
        defer { reservation.release() }
        let enqueued = try await store.enqueue(requests, check: check, leases: reservation)
        reservation.begin(enqueued.leased)
        if !enqueued.waiting.isEmpty {
            leases.dispatcher?.note(waiting: enqueued.waiting)
            wake.signal()
        }
        return enqueued.receipts
    }
}
