import CCurl
import Glibc

/// The thread that drives every transfer of one client.
///
/// Created and used on its own thread; other threads reach it through the inbox.
final class TransferLoop {
    let inbox: TransferInbox
    let poller: EventPoller
    let configuration: CurlClientConfiguration
    let metrics: CurlMetrics
    var pools: [Pool] = []
    var connections: [UInt32: Connection] = [:]
    var running: [Transfer] = []
    var idle: [Transfer] = []
    /// Their tasks are resumed together at the end of a turn, so that a task's next request belongs to the next turn.
    var finished: [(exchange: Exchange, result: Exchange.Outcome)] = []
    var lastConnectionNumber: UInt32 = 0
    let watches: Watches
    private var nextSweep = ContinuousClock.now
    static let sweepInterval = Duration.milliseconds(100)
    /// With so many requests in flight the loop pauses after each turn: answers then arrive in batches, which halves the work.
    private static let busy = 32
    private static let rest: useconds_t = 1000
    /// How often requests are assigned within a turn. A connection takes one at a time, since only its start shows whether a stream is free
    /// for it.
    private static let roundsPerTurn = 64

    /// The argument of the thread's start function.
    final class Launch: Sendable {
        let inbox: TransferInbox
        let poller: EventPoller
        let configuration: CurlClientConfiguration
        let metrics: CurlMetrics

        init(inbox: TransferInbox, poller: EventPoller, configuration: CurlClientConfiguration, metrics: CurlMetrics) {
            self.inbox = inbox
            self.poller = poller
            self.configuration = configuration
            self.metrics = metrics
        }
    }

    /// Starts the thread; it ends, and frees everything, after `TransferInbox.stop`.
    static func start(_ launch: Launch) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(launch).toOpaque()
        let status = pthread_create(
            &thread,
            nil,
            { context in
                let launch = Unmanaged<Launch>.fromOpaque(context!).takeRetainedValue()
                TransferLoop(launch).run()
                return nil
            },
            context
        )
        precondition(status == 0, "no thread for the HTTP client: \(status)")
        pthread_detach(thread)
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
            let hasMore = work()
            sweep()
            finishExchanges()
            if running.count >= TransferLoop.busy { usleep(TransferLoop.rest) }
            guard !hasMore, inbox.prepareToSleep() else {
                poll(milliseconds: 0)
                continue
            }
            poll(milliseconds: maximumWait)
        }
    }

    /// Starts requests, runs due timers and collects finished transfers until nothing changes. True if there is more to do.
    private func work() -> Bool {
        for _ in 0..<TransferLoop.roundsPerTurn {
            var hasMoved = false
            for pool in pools where pool.hasWaiting {
                if assign(pool) { hasMoved = true }
            }
            let now = ContinuousClock.now
            for connection in connections.values {
                if let at = connection.timerAt, at <= now { connection.fireTimer() }
            }
            for connection in connections.values where connection.isTouched {
                connection.isTouched = false
                if collect(connection) { hasMoved = true }
                if connection.hasUnhandledGoaway, reassign(from: connection) { hasMoved = true }
            }
            guard hasMoved, pools.contains(where: { $0.hasWaiting }) else { return false }
        }
        return true
    }

    private func poll(milliseconds: Int32) {
        watches.apply()
        poller.wait(milliseconds: milliseconds) { id, descriptor, mask in
            connections[id]?.handle(descriptor: descriptor, mask: mask)
        }
    }

    /// The time until the next timer.
    private var maximumWait: Int32 {
        let now = ContinuousClock.now
        var wait = running.isEmpty && !pools.contains(where: { $0.hasWaiting }) ? 10_000 : TransferLoop.sweepInterval.inMilliseconds
        for connection in connections.values {
            if let at = connection.timerAt { wait = min(wait, max(0, (at - now).inMilliseconds + 1)) }
        }
        return Int32(wait)
    }

    private func finishExchanges() {
        guard !finished.isEmpty else { return }
        for (exchange, result) in finished { exchange.finish(result) }
        finished.removeAll(keepingCapacity: true)
    }

    /// Enforces the limits that libcurl does not: waiting for a stream, the first byte, and idle connections.
    private func sweep() {
        let now = ContinuousClock.now
        guard now >= nextSweep else { return }
        nextSweep = now + TransferLoop.sweepInterval
        abandonOverdue(now: now)
        closeIdleConnections(now: now)
    }

    private func shutDown() {
        for transfer in running { abandon(transfer, kind: .shutdown, detail: "the client was shut down") }
        for pool in pools {
            for exchange in pool.remove(where: { _ in true }) { give(exchange, .notWritten, .shutdown, "the client was shut down") }
            pool.connections = []
        }
        finishExchanges()
        inbox.close()
        idle = []
        connections = [:]
        poller.close()
    }
}
