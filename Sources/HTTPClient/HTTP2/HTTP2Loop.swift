import Glibc

/// The thread that drives every connection of one client.
///
/// Created and used on its own thread; other threads reach it through the inbox.
final class HTTP2Loop {
    /// What other threads hand over.
    enum Item: Sendable {
        case request(HTTP2Exchange)
        case addresses(HTTP2Origin, AddressLookup.Outcome)
        /// A part of a task that prefers this thread.
        case job(UnownedJob, UnownedTaskExecutor)
    }

    /// What the thread begins with.
    struct Launch: Sendable {
        var inbox: LoopInbox<Item>
        var poller: EventPoller
        var configuration: HTTP2ClientConfiguration
    }

    let inbox: LoopInbox<Item>
    let configuration: HTTP2ClientConfiguration
    let metrics: HTTP2Metrics
    var pools: [HTTP2Pool] = []
    let poller: EventPoller
    private let input = InputBuffer()
    private let context: TLSContext
    private let proxy: Result<HTTPProxy?, OutboundFailure>
    var connections: [UInt32: HTTP2Connection] = [:]
    private var lastConnectionNumber: UInt32 = 0
    var finished: [(exchange: HTTP2Exchange, outcome: HTTP2Exchange.Outcome)] = []
    /// Something ended after requests were given to connections.
    private var hasNews = false
    var nextSweep = ContinuousClock.now
    /// The time of this turn.
    var now = ContinuousClock.now
    static let sweepInterval = Duration.milliseconds(100)

    /// Starts the thread; it ends, and frees everything, after the inbox was stopped.
    static func start(_ launch: Launch) {
        let isRunning = startThread { HTTP2Loop(launch).run() }
        precondition(isRunning, "no thread for an HTTP client")
    }

    private init(_ launch: Launch) {
        inbox = launch.inbox
        poller = launch.poller
        configuration = launch.configuration
        metrics = HTTP2Metrics(pool: launch.configuration.pool)
        context = TLSContext(caFile: configuration.caFile, certificate: configuration.clientCertificateFile)
        do throws(OutboundFailure) {
            proxy = .success(try configuration.proxy.map { url throws(OutboundFailure) in try HTTPProxy(url) })
        } catch {
            proxy = .failure(error)
        }
    }

    /// One turn: what the sockets hold, what was handed over, requests to connections, bytes to the sockets, outcomes to those who wait.
    private func run() {
        while true {
            let mayWait = !hasMoreToRead && !hasNews && inbox.prepareToSleep()
            hasNews = false
            var events: [(id: UInt32, mask: UInt32)] = []
            poller.wait(milliseconds: mayWait ? maximumWait : 0) { id, _, mask in events.append((id, mask)) }
            now = ContinuousClock.now
            for (id, mask) in events { connections[id]?.handle(mask, now: now) }
            for connection in connections.values where connection.hasMoreToRead { connection.readOn(now: now) }
            if takeArrived() { return shutDown() }
            if now >= nextSweep { sweep() }
            _ = collect()
            for pool in pools where pool.hasWaiting { assign(pool) }
            for connection in connections.values where connection.isTouched {
                connection.isTouched = false
                connection.flush()
            }
            // What ended since leaves a place for what waits.
            hasNews = collect()
            deliver()
        }
    }

    private var hasMoreToRead: Bool { connections.values.contains { $0.hasMoreToRead || $0.isTouched } }

    private var maximumWait: Int32 {
        let isBusy = pools.contains { $0.hasWaiting || $0.connections.contains { !$0.session.open.isEmpty || $0.phase != .open } }
        return isBusy ? 100 : 1000
    }

    /// Takes what was handed over; what the tasks among it hand over themselves belongs to this turn, too.
    ///
    /// - Returns: whether the loop is to end.
    private func takeArrived() -> Bool {
        let first = inbox.take()
        let hasTasks = take(first)
        if first.isStopping || !hasTasks { return first.isStopping }
        now = ContinuousClock.now
        let second = inbox.take()
        _ = take(second)
        return second.isStopping
    }

    // MARK: Requests

    /// Whether tasks ran.
    private func take(_ batch: LoopInbox<Item>.Batch) -> Bool {
        var hasTasks = false
        for item in batch.arrived {
            if case .job(let job, let executor) = item {
                job.runSynchronously(on: executor)
                hasTasks = true
            } else {
                take(item)
            }
        }
        if batch.hasCancellations { abandonCancelled() }
        return hasTasks
    }

    private func take(_ item: Item) {
        switch item {
        case .job: break
        case .request(let exchange) where exchange.isCancelled:
            fail(exchange, .notWritten, .cancelled, "cancelled before it was sent")
        case .request(let exchange):
            do throws(OutboundFailure) {
                let pool = try pool(for: exchange.request)
                if let moment = exchange.request.connectionOpenedAfter {
                    for connection in pool.connections where connection.times.opened <= moment { connection.isRetired = true }
                    // A repetition: what waits behind it would meet the same refusal, with a connection each.
                    pool.addFirst(exchange)
                } else {
                    pool.add(exchange)
                }
            } catch {
                give(exchange, .failure(error))
            }
        case .addresses(let origin, let outcome):
            guard let pool = pools.first(where: { $0.origin == origin }) else { return }
            pool.isLookingUp = false
            for connection in pool.connections { connection.connect(outcome, now: now) }
        }
    }

    private func pool(for request: OutboundRequest) throws(OutboundFailure) -> HTTP2Pool {
        if let known = pools.first(where: { $0.origin.begins(request.url) }) { return known }
        let pool = HTTP2Pool(origin: try HTTP2Origin(of: request.url), now: now)
        pools.append(pool)
        return pool
    }

    /// Gives waiting requests to connections while there is capacity.
    private func assign(_ pool: HTTP2Pool) {
        while pool.hasWaiting {
            var rules = configuration.connectionRules
            if let time = pool.opensNotBefore, now < time { rules.maxConnections = 0 }
            switch ConnectionChoice.pick(pool.connections.lazy.map { [now] in $0.state(now: now) }, rules: rules) {
            case .use(let index, let count):
                for _ in 0..<count {
                    guard let exchange = pool.takeNext() else { return }
                    if exchange.isCancelled {
                        fail(exchange, .notWritten, .cancelled, "cancelled before it was sent")
                    } else {
                        start(exchange, on: pool.connections[index], pool)
                    }
                }
            case .ask(let index): pool.connections[index].ping(now: now)
            case .open: return open(pool)
            case .wait: return
            }
        }
    }

    private func start(_ exchange: HTTP2Exchange, on connection: HTTP2Connection, _ pool: HTTP2Pool) {
        connection.noteRequest(now: now)
        if let fault = connection.session.submit(exchange, pathOffset: pool.origin.text.utf8.count, now: now) {
            fail(exchange, .notWritten, .other, fault)
        }
    }

    private func open(_ pool: HTTP2Pool) {
        guard case .success(let proxy) = proxy else {
            if case .failure(let failure) = proxy {
                for exchange in pool.remove(where: { _ in true }) { give(exchange, .failure(failure)) }
            }
            return
        }
        lastConnectionNumber &+= 1
        let connection = HTTP2Connection(
            id: lastConnectionNumber,
            origin: pool.origin,
            configuration: configuration,
            poller: poller,
            input: input,
            context: context,
            ticket: pool.ticket,
            addressHistory: pool.addressHistory,
            proxy: proxy,
            now: now
        )
        pool.connections.append(connection)
        connections[connection.id] = connection
        metrics.noteOpened()
        // A look-up may outlast the connection that asked for it: the next one takes its outcome.
        guard connection.phase == .lookup, !pool.isLookingUp else { return }
        pool.isLookingUp = true
        let (host, port) = connection.lookupTarget
        AddressLookup.start(host: host, port: port) { [inbox, origin = pool.origin] outcome in
            inbox.submit(.addresses(origin, outcome))
        }
    }
}
