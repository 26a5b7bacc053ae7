import Hummingbird
import ServiceKit
import Synchronization

/// How many GET and HEAD requests of one caller are answered at a time: further ones wait in order, for a few seconds, and beyond `waiting` are
/// 429. So one caller cannot take all connections that reading has. Safe to share.
final class ReadLimit: RouterMiddleware {
    typealias Context = PushwatchContext

    private struct Waiter {
        var id: UInt64
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct Reads {
        var running = 0
        var waiters: [Waiter] = []
    }

    private let running: Int
    private let waiting: Int
    private let waitLimit: Duration
    private let state = Mutex<[String: Reads]>([:])
    private let waiters = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - running: less than the connections of readers in the usual division, so that another caller finds one.
    ///   - waitLimit: what is ahead may be a long poll, which takes longer than a request may.
    init(running: Int = 4, waiting: Int = 16, waitLimit: Duration = .seconds(5)) {
        self.running = running
        self.waiting = waiting
        self.waitLimit = waitLimit
    }

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        guard request.method == .get || request.method == .head, let key = context.caller?.readKey else {
            return try await next(request, context)
        }
        guard await enter(key) else { throw Problem.tooManyReads(running: running) }
        defer { leave(key) }
        // The time that it waited is not the database's.
        WorkDeadline.current?.restart()
        return try await next(request, context)
    }

    /// False where too many wait, or it has waited too long.
    private func enter(_ key: String) async -> Bool {
        let id = waiters.add(1, ordering: .relaxed).newValue
        return await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                try? await Task.sleep(for: self.waitLimit)
                self.giveUp(key, id)
            }
            defer { tasks.cancelAll() }
            return await withTaskCancellationHandler {
                await withCheckedContinuation { enter(key, Waiter(id: id, continuation: $0)) }
            } onCancel: {
                giveUp(key, id)
            }
        }
    }

    private func giveUp(_ key: String, _ id: UInt64) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state[key]?.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state[key]?.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: false)
    }

    private func enter(_ key: String, _ waiter: Waiter) {
        let mayRun: Bool? = state.withLock { state in
            var reads = state[key] ?? Reads()
            defer { state[key] = reads }
            if reads.running < running {
                reads.running += 1
                return true
            }
            guard reads.waiters.count < waiting else { return false }
            reads.waiters.append(waiter)
            return nil
        }
        if let mayRun { waiter.continuation.resume(returning: mayRun) }
    }

    /// The next that waits takes the place.
    private func leave(_ key: String) {
        let next: Waiter? = state.withLock { state in
            guard var reads = state[key] else { return nil }
            defer { state[key] = reads.running == 0 ? nil : reads }
            if !reads.waiters.isEmpty { return reads.waiters.removeFirst() }
            reads.running -= 1
            return nil
        }
        next?.continuation.resume(returning: true)
    }
}

extension Caller {
    /// By what concurrent reads are counted; nil for app users, who read only what is theirs.
    fileprivate var readKey: String? {
        switch self {
        case .key(let id, _, _, _): "key " + id
        case .session(let id, _, _, _): "session " + id
        case .user, .deviceSecret: nil
        }
    }
}
