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
    let created: ContinuousClock.Instant
    private(set) var lastReceived: ContinuousClock.Instant
    var lastUsed: ContinuousClock.Instant
    private(set) var pingSentAt: ContinuousClock.Instant?
    /// The time a PING took, once for each.
    private(set) var pingTime: Duration?
    /// Something was submitted or is to be read in this turn.
    var isTouched = false

    private let poller: EventPoller
    private let input: InputBuffer
    let context: TLSContext
    let ticket: TLSSessionTicket
    let proxy: HTTPProxy?
    let deadline: ContinuousClock.Instant
    var addresses: ArraySlice<SocketAddress> = []
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
        self.proxy = proxy
        session = HTTP2Session(
            authority: origin.authority,
            limits: HTTP2Session.Limits(maxResponseBody: configuration.maxResponseBody, maxHeaderBytes: configuration.maxHeaderBytes)
        )
        created = now
        lastReceived = now
        lastUsed = now
        deadline = now + configuration.connectTimeout
        if let fault = context.fault { close(.tls, fault) }
    }

    deinit { closeSocket() }

    /// The input of `ConnectionChoice`.
    var state: ConnectionState {
        ConnectionState(
            isOpening: phase != .open && phase != .closed || isPinged || configuration.startsWithOneStream && !isAuthorized,
            isRetired: isRetired || phase == .closed,
            running: session.open.count,
            capacity: capacity
        )
    }

    /// How many requests at once it takes; 0 while it takes none.
    private var capacity: Int {
        guard phase == .open, !isRetired, !isWriteBlocked, session.acceptsRequests, !isPinged else { return 0 }
        let streams = min(session.maxStreams, configuration.maxStreamsPerConnection)
        return configuration.startsWithOneStream && !isAuthorized ? min(1, streams) : streams
    }

    /// A PING must be answered before it is used, since it was idle: the peer, or something between, may have forgotten it.
    private(set) var isPinged = false

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
        lastReceived = now
        for _ in 0..<16 {
            let (step, count) = input.fill { tls.read(into: $0) }
            switch step {
            case .done:
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
        if phase == .settings, session.hasSettings { phase = .open }
        if let sent = pingSentAt, session.pingsAnswered == session.pingsSent {
            pingTime = now - sent
            pingSentAt = nil
            isPinged = false
        }
        if session.goaway != nil { isRetired = true }
    }

    func takePingTime() -> Duration? {
        defer { pingTime = nil }
        return pingTime
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

    // MARK: Time

    /// Limits of time: opening, PING, idleness and age.
    func sweep(now: ContinuousClock.Instant) {
        switch phase {
        case .closed: break
        case .lookup, .connecting, .tunnel, .handshake, .settings:
            if now >= deadline {
                close(.connectTimeout, "no connection within \(configuration.connectTimeout)")
            } else if phase != .lookup, phase != .settings, let addressDeadline, now >= addressDeadline, !addresses.isEmpty {
                connectNext(after: TLSSocket.Failure(kind: .connectTimeout, detail: "no connection"), now: now)
            }
        case .open:
            if let sent = pingSentAt {
                if now - sent >= configuration.pingTimeout { close(.reset, "no answer to PING within \(configuration.pingTimeout)") }
            } else if now - lastReceived >= configuration.pingInterval {
                ping(now: now)
            }
            guard phase == .open else { return }
            if now - created >= configuration.maxAge { isRetired = true }
            // The peer grants no stream.
            if session.maxStreams == 0, session.open.isEmpty, now - lastUsed >= configuration.connectTimeout { isRetired = true }
            if session.open.isEmpty, isRetired || now - lastUsed >= configuration.idleLifetime { end() }
            // What is left was given up, and the peer does not end it.
            if isRetired, session.open.allSatisfy(\.stream.isAbandoned) { end() }
        }
    }

    private func ping(now: ContinuousClock.Instant) {
        isPinged = session.open.isEmpty
        session.ping()
        pingSentAt = now
        flush()
    }

    /// Closes the connection in order.
    func end() {
        guard phase != .closed else { return }
        if phase == .open {
            session.terminate()
            flush()
        }
        close(.reset, "the connection was closed")
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
