import CEpoll
import CNGHTTP2
import Glibc

/// One connection to an origin: its socket, TLS and HTTP/2 session. Used on the loop's thread only.
final class HTTP2Connection {
    /// How far it is.
    enum Phase: Hashable {
        case lookup, connecting, tunnel, handshake
        /// TLS is agreed on; the peer's SETTINGS are awaited.
        case settings
        case open
        case closed
    }

    let id: UInt32
    let origin: HTTP2Origin
    let session: HTTP2Session
    let configuration: HTTP2ClientConfiguration
    var phase = Phase.lookup
    /// The peer has answered a request, other than with 403.
    var isAuthorized = false
    /// The peer has answered a request.
    var hasAnswered = false
    /// Accepts no further requests; those in flight are completed.
    var isRetired = false
    /// Why it was closed, once it is.
    private(set) var failure: TLSSocket.Failure?
    var times: ConnectionTimes
    /// The time a PING took, once for each.
    var pingTime: Duration?
    /// Something was submitted or is to be read in this turn.
    var isTouched = false

    private let poller: EventPoller
    private let input: InputBuffer
    let context: TLSContext
    let ticket: TLSSessionTicket
    let addressHistory: AddressHistory
    let proxy: HTTPProxy?
    let deadline: ContinuousClock.Instant
    var addresses: ArraySlice<SocketAddress> = []
    /// The one that is tried, or in use.
    var address: SocketAddress?
    var addressDeadline: ContinuousClock.Instant?
    var descriptor: Int32 = -1
    var tls: TLSSocket?
    private var watched: UInt32 = 0
    var tunnelRequest: [UInt8] = []
    var tunnelAnswer: [UInt8] = []
    private var output = OutputBuffer()
    private var isWriteBlocked = false

    init(
        id: UInt32,
        origin: HTTP2Origin,
        configuration: HTTP2ClientConfiguration,
        poller: EventPoller,
        input: InputBuffer,
        context: TLSContext,
        ticket: TLSSessionTicket,
        addressHistory: AddressHistory,
        proxy: HTTPProxy?,
        now: ContinuousClock.Instant
    ) {
        self.id = id
        self.origin = origin
        self.configuration = configuration
        self.poller = poller
        self.input = input
        self.context = context
        self.ticket = ticket
        self.addressHistory = addressHistory
        self.proxy = proxy
        session = HTTP2Session(
            authority: origin.authority,
            limits: HTTP2Session.Limits(maxResponseBody: configuration.maxResponseBody, maxHeaderBytes: configuration.maxHeaderBytes)
        )
        times = ConnectionTimes(opened: now)
        deadline = now + configuration.connectTimeout
        if let fault = context.fault { close(.tls, fault) }
    }

    deinit { closeSocket() }

    /// The input of `ConnectionChoice`.
    func state(now: ContinuousClock.Instant) -> ConnectionState {
        let capacity = capacity
        let isOverdue = ConnectionPolicy.isOverdue(times, now: now)
        let isAsked = times.pingSentAt != nil && !isOverdue
        return ConnectionState(
            isOpening: phase != .open && phase != .closed || isAsked || configuration.startsWithOneStream && !isAuthorized && !isOverdue,
            isRetired: isRetired || phase == .closed,
            isOverdue: isOverdue,
            isUncertain: capacity > 0 && session.open.isEmpty && ConnectionPolicy.isUncertain(times, limits: configuration, now: now),
            running: session.open.count,
            capacity: capacity
        )
    }

    /// How many requests at once it takes; 0 while it takes none, as until it has answered a PING.
    private var capacity: Int {
        guard phase == .open, !isRetired, !isWriteBlocked, session.acceptsRequests, times.pingSentAt == nil else { return 0 }
        let streams = min(session.maxStreams, configuration.maxStreamsPerConnection)
        return configuration.startsWithOneStream && !isAuthorized ? min(1, streams) : streams
    }

    // MARK: Events

    /// The socket can be read or written.
    func handle(_ events: UInt32, now: ContinuousClock.Instant) {
        isTouched = true
        switch phase {
        case .connecting:
            var error: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
            guard error == 0 else { return connectNext(after: .system(error), now: now) }
            connected(now: now)
        case .tunnel: openTunnel(now: now)
        case .handshake: handshake(now: now)
        case .settings, .open:
            if events & EPOLLOUT.rawValue != 0 { flush() }
            if events & ~EPOLLOUT.rawValue != 0 { read(now: now) }
        case .lookup, .closed: break
        }
    }

    /// Reads until the socket is empty, at most a megabyte a turn, so that one peer cannot keep the loop from the others.
    func read(now: ContinuousClock.Instant) {
        guard let tls else { return }
        for _ in 0..<16 {
            let (step, count) = input.fill { tls.read(into: $0) }
            switch step {
            case .done:
                times.lastReceived = now
                let isAlive = input.bytes(count) { session.receive($0) }
                if !isAlive { return close(.reset, session.breach ?? "the peer broke HTTP/2") }
                noteProgress(now: now)
                // Acknowledgements must leave between reads: nghttp2 gives up when a thousand wait (FLOODED).
                if session.hasOutput { flush() }
                guard phase != .closed else { return }
                // The peer does not read: its bytes are taken slowly, a piece a turn.
                if isWriteBlocked { return hasMoreToRead = true }
            case .needsRead:
                if watched & EPOLLIN.rawValue == 0 { watch(EPOLLIN.rawValue | (isWriteBlocked ? EPOLLOUT.rawValue : 0)) }
                return closeIfOver()
            case .needsWrite: return watch(EPOLLIN.rawValue | EPOLLOUT.rawValue)
            case .failed(let failure): return close(failure.kind, failure.detail)
            }
        }
        hasMoreToRead = true
    }

    /// TLS may hold bytes of which epoll says nothing: the next turn reads on.
    private(set) var hasMoreToRead = false

    func readOn(now: ContinuousClock.Instant) {
        hasMoreToRead = false
        read(now: now)
    }

    private func noteProgress(now: ContinuousClock.Instant) {
        if phase == .settings, session.hasSettings {
            phase = .open
            addressHistory.noteSuccess(of: address)
        }
        if session.pingsAnswered == session.pingsSent { notePingAnswer(now: now) }
        if session.goaway != nil { isRetired = true }
    }

    /// Writes what the session has for the peer: as much as the socket takes.
    func flush() {
        guard let tls, phase == .settings || phase == .open else { return }
        isWriteBlocked = false
        while true {
            while output.count < OutputBuffer.enough, let bytes = session.next() { output.append(bytes) }
            guard output.count > 0 else { break }
            let (step, count) = output.withBytes { tls.write($0) }
            switch step {
            case .done:
                output.removeFirst(count)
                session.accepted += count
            case .needsWrite, .needsRead:
                isWriteBlocked = true
                return watch(EPOLLIN.rawValue | EPOLLOUT.rawValue)
            case .failed(let failure): return closeAfterReading(failure)
            }
        }
        watch(EPOLLIN.rawValue)
        closeIfOver()
    }

    /// The peer closed the connection while we wrote: what it said before that, an alert or GOAWAY or answers, is still to be read.
    private func closeAfterReading(_ failure: TLSSocket.Failure) {
        var failure = failure
        reading: while let tls {
            let (step, count) = input.fill { tls.read(into: $0) }
            switch step {
            case .done: if !input.bytes(count, session.receive) { break reading }
            case .failed(let reason):
                if reason.kind != .reset { failure = reason }
                break reading
            case .needsRead, .needsWrite: break reading
            }
        }
        close(failure.kind, failure.detail)
    }

    private func closeIfOver() {
        if phase == .open || phase == .settings, output.count == 0, session.isOver {
            close(.reset, session.breach ?? session.goaway.map(HTTP2Connection.text) ?? "the connection ended")
        }
    }

    private static func text(_ goaway: HTTP2Session.Goaway) -> String {
        "the peer sent GOAWAY (\(String(cString: nghttp2_http2_strerror(goaway.code)))\(goaway.text.isEmpty ? "" : ": \(goaway.text)"))"
    }

    // MARK: The end

    func close(_ kind: OutboundFailure.Kind, _ detail: String) {
        guard phase != .closed else { return }
        failure = TLSSocket.Failure(kind: kind, detail: detail)
        phase = .closed
        isTouched = true
        closeSocket()
    }

    /// Requests were sent on it.
    var wasUsed: Bool { session.wasUsed }

    func closeSocket() {
        if descriptor >= 0 {
            if watched != 0 { poller.forget(descriptor) }
            if tls == nil { Glibc.close(descriptor) }
        }
        tls = nil
        descriptor = -1
        watched = 0
    }

    func watch(_ events: UInt32) {
        guard descriptor >= 0, watched != events else { return }
        poller.watch(descriptor, connection: id, events: events, isKnown: watched != 0)
        watched = events
    }
}
