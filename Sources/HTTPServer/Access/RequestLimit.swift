import Hummingbird
import PushContract
import ServiceKit
import Synchronization

/// How many requests of one caller are answered at a time: GET and HEAD of a key or a session, any of an app's user. Further ones wait in
/// order, for a few seconds, and beyond `waiting` are 429. So one caller cannot take all connections that reading has, and one app user
/// cannot be in front of all others. Safe to share.
final class RequestLimit: RouterMiddleware {
    typealias Context = PushwatchContext

    private struct Requests {
        var running = 0
        /// In the order in which they came.
        var waiters: [WakeSignal] = []
    }

    private let running: Int
    private let waiting: Int
    private let waitLimit: Duration
    private let state = Mutex<[ExactText: Requests]>([:])

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
    private func enter(_ key: ExactText) async -> Bool {
        let own = WakeSignal()
        // Nearly every request finds a place, and needs no timer.
        if let mayRun = begin(key, own, mayWait: true) { return mayRun }
        // The time that it waited is not the database's.
        defer { WorkDeadline.current?.restart() }
        let end = ContinuousClock.now + waitLimit
        while true {
            await own.wait(upTo: max(.zero, end - .now))
            if let mayRun = begin(key, own, mayWait: !Task.isCancelled && ContinuousClock.now < end) { return mayRun }
        }
    }

    /// Whether a request begins; nil for one that waits from now on, or still does.
    private func begin(_ key: ExactText, _ own: WakeSignal, mayWait: Bool) -> Bool? {
        let (mayRun, next) = state.withLock { state -> (Bool?, WakeSignal?) in
            var requests = state[key] ?? Requests()
            defer { state[key] = requests }
            let index = requests.waiters.firstIndex { $0 === own }
            let isNext = index == 0 || index == nil && requests.waiters.isEmpty
            if isNext && requests.running < running {
                requests.running += 1
                if index != nil { requests.waiters.removeFirst() }
                // Two places may have become free at once.
                return (true, requests.running < running ? requests.waiters.first : nil)
            }
            if index != nil && mayWait { return (nil, nil) }
            guard index == nil && requests.waiters.count < waiting else {
                if let index { requests.waiters.remove(at: index) }
                return (false, nil)
            }
            requests.waiters.append(own)
            return (nil, nil)
        }
        next?.signal()
        return mayRun
    }

    private func leave(_ key: ExactText) {
        let next: WakeSignal? = state.withLock { state in
            guard var requests = state[key] else { return nil }
            requests.running -= 1
            state[key] = requests.running == 0 && requests.waiters.isEmpty ? nil : requests
            return requests.waiters.first
        }
        next?.signal()
    }
}

extension Caller {
    /// By what concurrent requests are counted; nil for writes of keys and sessions, whose number is the operator's choice, and for an app
    /// without a session.
    fileprivate func limitKey(of request: Request) -> ExactText? {
        let isRead = request.method == .get || request.method == .head
        return switch self {
        case .key(let id, _, _, _): isRead ? ExactText("key " + id) : nil
        case .session(let id, _, _, _): isRead ? ExactText("session " + id) : nil
        case .user(let userId): ExactText("user " + userId)
        case .deviceSecret: nil
        }
    }
}
