import CCurl
import CEpoll
import Glibc

/// The thread that drives every transfer of one client.
///
/// Created and used on its own thread; other threads reach it through the inbox.
final class TransferLoop {
    let inbox: LoopInbox<Exchange>
    let poller: EventPoller
    let configuration: CurlClientConfiguration
    let metrics: HTTPClientMetrics
    var groups: [UInt32: TransferGroup] = [:]
    var running: [Transfer] = []
    var idle: [Transfer] = []
    /// Their tasks are resumed together at the end of a turn, so that a task's next request belongs to the next turn.
    var finished: [(exchange: Exchange, result: Exchange.Outcome)] = []
    var lastGroupNumber: UInt32 = 0
    let watches: Watches
    private var nextSweep = ContinuousClock.now
    static let sweepInterval = Duration.milliseconds(100)

    /// What the thread begins with.
    struct Launch: Sendable {
        var inbox: LoopInbox<Exchange>
        var poller: EventPoller
        var configuration: CurlClientConfiguration
        var metrics: HTTPClientMetrics
    }

    /// Starts the thread; it ends, and frees everything, after the inbox was stopped.
    static func start(_ launch: Launch) {
        let isRunning = startThread { TransferLoop(launch).run() }
        precondition(isRunning, "no thread for an HTTP client")
    }

    private init(_ launch: Launch) {
        inbox = launch.inbox
        poller = launch.poller
        watches = Watches(poller: launch.poller)
        configuration = launch.configuration
        metrics = launch.metrics
        running.reserveCapacity(configuration.maxInFlight)
    }

    private func run() {
        while true {
            let batch = inbox.take()
            for exchange in batch.arrived { accept(exchange) }
            if batch.isStopping { return shutDown() }
            if batch.hasCancellations { abandonCancelled() }
            work()
            sweep()
            finishExchanges()
            guard inbox.prepareToSleep() else {
                poll(milliseconds: 0)
                continue
            }
            poll(milliseconds: maximumWait)
        }
    }

    /// Starts requests, runs due timers and collects finished transfers until nothing changes.
    private func work() {
        var hasMoved = true
        while hasMoved {
            hasMoved = false
            for group in groups.values where !group.waiting.isEmpty && start(group) { hasMoved = true }
            let now = ContinuousClock.now
            for group in groups.values {
                if let at = group.timerAt, at <= now { group.fireTimer() }
            }
            for group in groups.values where group.isTouched {
                group.isTouched = false
                if collect(group) { hasMoved = true }
            }
        }
    }

    private func poll(milliseconds: Int32) {
        watches.apply()
        poller.wait(milliseconds: milliseconds) { id, descriptor, events in
            groups[id]?.handle(descriptor: descriptor, mask: TransferLoop.mask(events))
        }
    }

    /// epoll's events as libcurl names them.
    private static func mask(_ events: UInt32) -> Int32 {
        var mask: Int32 = 0
        if events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CURL_CSELECT_IN }
        if events & EPOLLOUT.rawValue != 0 { mask |= CURL_CSELECT_OUT }
        if events & EPOLLERR.rawValue != 0 { mask |= CURL_CSELECT_ERR }
        return mask
    }

    /// The time until the next timer.
    private var maximumWait: Int32 {
        let now = ContinuousClock.now
        var wait = running.isEmpty && groups.values.allSatisfy(\.waiting.isEmpty) ? 10_000 : TransferLoop.sweepInterval.inMilliseconds
        for group in groups.values {
            if let at = group.timerAt { wait = min(wait, max(0, (at - now).inMilliseconds + 1)) }
        }
        return Int32(wait)
    }

    private func finishExchanges() {
        guard !finished.isEmpty else { return }
        for (exchange, result) in finished { exchange.finish(result) }
        finished.removeAll(keepingCapacity: true)
    }

    /// Enforces the limits that libcurl does not: waiting for a connection, the first byte, and idle groups.
    private func sweep() {
        let now = ContinuousClock.now
        guard now >= nextSweep else { return }
        nextSweep = now + TransferLoop.sweepInterval
        abandonOverdue(now: now)
        dropIdleGroups(now: now)
    }

    private func shutDown() {
        for transfer in running { abandon(transfer, kind: .shutdown, detail: "the client was shut down") }
        for group in groups.values {
            for exchange in group.remove(where: { _ in true }) { give(exchange, .notWritten, .shutdown, "the client was shut down") }
        }
        finishExchanges()
        idle = []
        groups = [:]
    }
}
