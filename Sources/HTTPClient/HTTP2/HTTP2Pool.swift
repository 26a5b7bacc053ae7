/// The connections to one origin, and the requests that wait for one, oldest first. Used on the loop's thread only.
final class HTTP2Pool {
    let origin: HTTP2Origin
    let ticket = TLSSessionTicket()
    let addressHistory = AddressHistory()
    var connections: [HTTP2Connection] = []
    /// When it last had a connection, or a request.
    var lastUsed: ContinuousClock.Instant
    /// The host's addresses were asked for and have not come.
    var isLookingUp = false
    /// After connections that answered nothing, others are opened at a slower pace.
    private(set) var opensNotBefore: ContinuousClock.Instant?
    private var failures = 0
    private var waiting: [HTTP2Exchange] = []
    private var next = 0

    init(origin: HTTP2Origin, now: ContinuousClock.Instant) {
        self.origin = origin
        lastUsed = now
    }

    var hasWaiting: Bool { next < waiting.count }

    func noteAnswer() {
        failures = 0
        opensNotBefore = nil
    }

    /// 50 ms, doubled each time to half a second.
    func noteFailedOpening(now: ContinuousClock.Instant) {
        opensNotBefore = now + min(.milliseconds(500), .milliseconds(50) * (1 << min(failures, 4)))
        failures += 1
    }

    func add(_ exchange: HTTP2Exchange) { waiting.append(exchange) }

    /// Puts a request that was not processed back at the front: it has waited longest.
    func addFirst(_ exchange: HTTP2Exchange) {
        if next > 0 {
            next -= 1
            waiting[next] = exchange
        } else {
            waiting.insert(exchange, at: 0)
        }
    }

    func takeNext() -> HTTP2Exchange? {
        guard next < waiting.count else { return nil }
        defer {
            next += 1
            if next == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                next = 0
            } else if next > 4096 {
                waiting.removeFirst(next)
                next = 0
            }
        }
        return waiting[next]
    }

    /// Takes out what must not wait any longer.
    func remove(where isOver: (HTTP2Exchange) -> Bool) -> [HTTP2Exchange] {
        guard hasWaiting else { return [] }
        var kept: [HTTP2Exchange] = []
        var removed: [HTTP2Exchange] = []
        for exchange in waiting[next...] {
            if isOver(exchange) { removed.append(exchange) } else { kept.append(exchange) }
        }
        waiting = kept
        next = 0
        return removed
    }
}
