import Hummingbird
import Synchronization

/// How many GET requests of one caller are answered at a time: further ones wait in order, and beyond `waiting` are 429. So one caller
/// cannot take all connections that reading has. Safe to share.
final class ReadLimit: RouterMiddleware {
    typealias Context = PushwatchContext
    private typealias Waiter = CheckedContinuation<Bool, Never>

    private struct Reads {
        var running = 0
        var waiters: [Waiter] = []
    }

    private let running: Int
    private let waiting: Int
    private let state = Mutex<[String: Reads]>([:])

    /// - Parameter running: less than the connections of readers in the usual division, so that another caller finds one.
    init(running: Int = 4, waiting: Int = 16) {
        self.running = running
        self.waiting = waiting
    }

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        guard request.method == .get, let key = context.caller?.readKey else { return try await next(request, context) }
        // What runs ahead has deadlines of its own, so the wait ends.
        guard await withCheckedContinuation({ enter(key, $0) }) else { throw Problem.tooManyReads(running: running) }
        defer { leave(key) }
        return try await next(request, context)
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
        if let mayRun { waiter.resume(returning: mayRun) }
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
        next?.resume(returning: true)
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
