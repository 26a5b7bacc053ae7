import Hummingbird
import ServiceKit
import Synchronization

/// How many requests of one caller are answered at a time: GET and HEAD of a key or a session, any of an app's user. Further ones wait in
/// order, for a few seconds, and beyond `waiting` are 429. So one caller cannot take all connections that reading has, and one app user
/// cannot be in front of all others. Safe to share.
final class RequestLimit: RouterMiddleware {
    typealias Context = PushwatchContext

    private struct Waiter {
        var id: UInt64
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct Requests {
        var running = 0
        var waiters: [Waiter] = []
    }

    private let running: Int
    private let waiting: Int
    private let waitLimit: Duration
    private let state = Mutex<[String: Requests]>([:])
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
        guard let caller = context.caller, let key = caller.limitKey(of: request) else { return try await next(request, context) }
        guard await enter(key) else {
            throw caller.userId == nil ? Problem.tooManyReads(running: running) : Problem.tooManyRequests(running: running)
        }
        defer { leave(key) }
        return try await next(request, context)
    }

    /// False where too many wait, or it has waited too long.
    private func enter(_ key: String) async -> Bool {
        // Nearly every request finds a place, and needs no timer.
        if let mayRun = begin(key) { return mayRun }
        // The time that it waited is not the database's.
        defer { WorkDeadline.current?.restart() }
        let id = waiters.add(1, ordering: .relaxed).newValue
        return await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                try? await Task.sleep(for: self.waitLimit)
                self.giveUp(key, id)
            }
            defer { tasks.cancelAll() }
            return await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if let mayRun = begin(key, Waiter(id: id, continuation: continuation)) { continuation.resume(returning: mayRun) }
                }
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

    /// Whether a request begins; nil for one that waits, or has to.
    private func begin(_ key: String, _ waiter: Waiter? = nil) -> Bool? {
        state.withLock { state in
            var requests = state[key] ?? Requests()
            defer { state[key] = requests }
            if requests.running < running {
                requests.running += 1
                return true
            }
            guard requests.waiters.count < waiting else { return false }
            if let waiter { requests.waiters.append(waiter) }
            return nil
        }
    }

    /// The next that waits takes the place.
    private func leave(_ key: String) {
        let next: Waiter? = state.withLock { state in
            guard var requests = state[key] else { return nil }
            defer { state[key] = requests.running == 0 ? nil : requests }
            if !requests.waiters.isEmpty { return requests.waiters.removeFirst() }
            requests.running -= 1
            return nil
        }
        next?.continuation.resume(returning: true)
    }
}

extension Caller {
    /// By what concurrent requests are counted; nil for writes of keys and sessions, whose number is the operator's choice, and for an app
    /// without a session.
    fileprivate func limitKey(of request: Request) -> String? {
        let isRead = request.method == .get || request.method == .head
        return switch self {
        case .key(let id, _, _, _): isRead ? "key " + id : nil
        case .session(let id, _, _, _): isRead ? "session " + id : nil
        case .user(let userId): "user " + userId
        case .deviceSecret: nil
        }
    }
}
