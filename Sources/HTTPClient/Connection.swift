import CCurl
import Glibc

/// A libcurl multi handle. A *pooled* one has one HTTP/2 connection to one origin; a *shared* one any number of connections that
/// libcurl manages. Used on the loop's thread only.
final class Connection {
    let id: UInt32
    let multi: UnsafeMutableRawPointer
    let isPooled: Bool
    private let watches: Watches
    /// Exchanges assigned to it, and how many of them wait for a connection or a free stream.
    var running = 0
    var unissued = 0
    /// The local port of its connection; 0 before there is one.
    private(set) var port = 0
    /// The stream id the last request got on this connection: libcurl counts 1, 3, 5, … in the order requests are issued.
    private(set) var lastStream: UInt32 = 0
    /// An answer was received on this connection.
    var isAuthorized = false
    /// Accepts no further requests; those in flight are completed.
    var isRetired = false
    /// From the peer's GOAWAY: streams above were not processed.
    private(set) var lastAccepted: UInt32?
    /// Local ports of connections that the peer has ended by GOAWAY.
    private var endedPorts: Set<Int> = []
    /// A GOAWAY was received and is not processed yet.
    var hasUnhandledGoaway = false
    var timerAt: ContinuousClock.Instant?
    var idleSince = ContinuousClock.now
    /// It had an event in this turn.
    var isTouched = false

    init?(id: UInt32, isPooled: Bool, configuration: CurlClientConfiguration, watches: Watches) {
        guard let multi = curl_multi_init() else { return nil }
        self.id = id
        self.multi = multi
        self.isPooled = isPooled
        self.watches = watches
        let me = Unmanaged.passUnretained(self).toOpaque()
        pw_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        pw_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.maxStreamsPerConnection)
        pw_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, isPooled ? 1 : configuration.maxConnectionsPerHost)
        pw_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, isPooled ? 0 : configuration.maxConnections)
        // By default libcurl closes idle connections as transfers become fewer.
        pw_multi_set_long(multi, CURLMOPT_MAXCONNECTS, isPooled ? 4 : max(64, configuration.maxConnectionsPerHost * 4))
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

    /// The input of `ConnectionChoice`.
    var state: ConnectionState {
        ConnectionState(running: running, unissued: unissued, isAuthorized: isAuthorized, isRetired: isRetired, port: port)
    }

    /// A request is about to be written. Gives its stream id.
    func issue(port: Int) -> UInt32 {
        unissued -= 1
        if port != self.port {
            // A new connection: the state of the old one does not apply.
            self.port = port
            lastStream = 0
            lastAccepted = nil
            endedPorts.remove(port)
            isAuthorized = false
        }
        lastStream += lastStream == 0 ? 1 : 2
        return lastStream
    }

    /// Reads libcurl's log for the last stream that the peer's GOAWAY accepts; libcurl reports it nowhere else.
    func note(_ text: UnsafeBufferPointer<UInt8>) {
        // libcurl 7.88 writes "recveived GOAWAY, error=0, last_stream=7"; later versions treat such streams as refused.
        guard text.count > 20, text[0] == UInt8(ascii: "r"), let connection = String(validating: text, as: UTF8.self),
            connection.contains("GOAWAY"), let number = connection.split(separator: "last_stream=").last
        else { return }
        guard let last = UInt32(number.prefix { $0.isASCII && $0.isNumber }) else { return }
        lastAccepted = last
        endedPorts.insert(port)
        isRetired = true
        hasUnhandledGoaway = true
    }

    /// Whether the peer has sent GOAWAY on this connection.
    func hasEnded(port: Int) -> Bool { endedPorts.contains(port) }

    /// Whether the peer's GOAWAY states that it did not process this stream of the current connection.
    func isUnprocessed(_ stream: UInt32) -> Bool { lastAccepted.map { stream > $0 } ?? false }

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
    if let context { Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().watch(descriptor, what) }
    return 0
}

private func noteTimer(multi: UnsafeMutableRawPointer?, milliseconds: Int, context: UnsafeMutableRawPointer?) -> Int32 {
    if let context { Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds) }
    return 0
}
