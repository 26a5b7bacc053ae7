import CCurl
import Glibc

/// A libcurl multi handle, which manages the connections of the requests of one group, and the requests that wait for a place in it.
///
/// Used on the loop's thread only.
final class TransferGroup {
    let id: UInt32
    let name: String
    let multi: UnsafeMutableRawPointer
    private let watches: Watches
    /// Exchanges under way.
    var running = 0
    private(set) var waiting: [Exchange] = []
    var timerAt: ContinuousClock.Instant?
    var idleSince = ContinuousClock.now
    /// It had an event in this turn.
    var isTouched = false

    init?(id: UInt32, name: String, configuration: CurlClientConfiguration, watches: Watches) {
        guard let multi = curl_multi_init() else { return nil }
        self.id = id
        self.name = name
        self.multi = multi
        self.watches = watches
        let me = Unmanaged.passUnretained(self).toOpaque()
        pw_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        pw_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.maxStreamsPerConnection)
        pw_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maxConnectionsPerHost)
        pw_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, configuration.maxConnections)
        pw_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.keptConnections)
        pw_multi_set_socket_callback(multi, watchSocket)
        pw_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, me)
        pw_multi_set_timer_callback(multi, noteTimer)
        pw_multi_set_pointer(multi, CURLMOPT_TIMERDATA, me)
    }

    deinit {
        // Closing connections would call back into an object that is being deallocated; epoll drops closed descriptors itself.
        pw_multi_set_socket_callback(multi, nil)
        pw_multi_set_timer_callback(multi, nil)
        curl_multi_cleanup(multi)
    }

    func add(_ exchange: Exchange) { waiting.append(exchange) }

    /// Puts a request that was not processed back at the front: it has waited longest.
    func addFirst(_ exchange: Exchange) { waiting.insert(exchange, at: 0) }

    /// Takes out the longest waiting, at most `count` of them.
    func takeNext(_ count: Int) -> [Exchange] {
        let taken = Array(waiting.prefix(count))
        waiting.removeFirst(taken.count)
        return taken
    }

    /// Takes out what must not be sent any more.
    func remove(where isOver: (Exchange) -> Bool) -> [Exchange] {
        let removed = waiting.filter(isOver)
        if !removed.isEmpty { waiting.removeAll(where: isOver) }
        return removed
    }

    func handle(descriptor: Int32, mask: Int32) {
        isTouched = true
        var active: Int32 = 0
        curl_multi_socket_action(multi, descriptor, mask, &active)
    }

    /// Runs timers that are due. libcurl's timer callback does not repeat an unchanged time, so the time is read again afterwards.
    func fireTimer() {
        timerAt = nil
        handle(descriptor: CURL_SOCKET_TIMEOUT, mask: 0)
        guard timerAt == nil else { return }
        var milliseconds = -1
        curl_multi_timeout(multi, &milliseconds)
        setTimer(milliseconds)
    }

    fileprivate func setTimer(_ milliseconds: Int) {
        timerAt = milliseconds < 0 ? nil : ContinuousClock.now + .milliseconds(milliseconds)
    }

    fileprivate func watch(_ descriptor: Int32, _ what: Int32) {
        switch what {
        case CURL_POLL_REMOVE: watches.remove(descriptor)
        default: watches.set(descriptor, connection: id, reads: what & CURL_POLL_IN != 0, writes: what & CURL_POLL_OUT != 0)
        }
    }
}

private func watchSocket(
    easy: UnsafeMutableRawPointer?,
    descriptor: curl_socket_t,
    what: Int32,
    context: UnsafeMutableRawPointer?,
    socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    if let context { Unmanaged<TransferGroup>.fromOpaque(context).takeUnretainedValue().watch(descriptor, what) }
    return 0
}

private func noteTimer(multi: UnsafeMutableRawPointer?, milliseconds: Int, context: UnsafeMutableRawPointer?) -> Int32 {
    if let context { Unmanaged<TransferGroup>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds) }
    return 0
}
