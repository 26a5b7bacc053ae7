import CEpoll
import Glibc

/// From the look-up of the host to TLS: addresses in turn, a tunnel through a proxy, the handshake.
extension HTTP2Connection {
    /// The host to ask for the addresses of: the proxy's if there is one.
    var lookupTarget: (host: String, port: UInt16) { proxy.map { ($0.host, $0.port) } ?? (origin.host, origin.port) }

    func connect(_ outcome: AddressLookup.Outcome, now: ContinuousClock.Instant) {
        guard phase == .lookup else { return }
        switch outcome {
        case .success(let found):
            addresses = addressHistory.ordered(found, now: now)[...]
            connectNext(after: TLSSocket.Failure(kind: .connect, detail: "no address"), now: now)
        case .failure(let failure): close(.dns, failure.detail)
        }
    }

    /// Tries the next address, each with its share of the time that is left.
    func connectNext(after failure: TLSSocket.Failure, now: ContinuousClock.Instant) {
        closeSocket()
        tunnelAnswer = []
        addressHistory.noteFailure(of: address, now: now)
        address = addresses.popFirst()
        guard let address else { return close(failure.kind, failure.detail) }
        phase = .connecting
        addressDeadline = now + max(.milliseconds(250), (deadline - now) / (addresses.count + 1))
        descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            return connectNext(after: .system(errno), now: now)
        }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        let status = address.withPointer { Glibc.connect(descriptor, $0, $1) }
        if status == 0 { return connected(now: now) }
        guard errno == EINPROGRESS else {
            return connectNext(after: .system(errno), now: now)
        }
        watch(EPOLLOUT.rawValue)
    }

    func connected(now: ContinuousClock.Instant) {
        guard let proxy else { return startHandshake(now: now) }
        phase = .tunnel
        tunnelRequest = proxy.request(host: origin.host, port: origin.port)
        openTunnel(now: now)
    }

    private func startHandshake(now: ContinuousClock.Instant) {
        phase = .handshake
        tls = TLSSocket(descriptor: descriptor, host: origin.host, context: context, ticket: ticket)
        handshake(now: now)
    }

    func handshake(now: ContinuousClock.Instant) {
        guard let tls else { return }
        switch tls.handshake() {
        case .done:
            phase = .settings
            flush()
            read(now: now)
        case .needsRead: watch(EPOLLIN.rawValue)
        case .needsWrite: watch(EPOLLOUT.rawValue)
        case .failed(let failure) where failure.kind == .reset: connectNext(after: failure, now: now)
        // What a certificate or ALPN says at one address it says at the others.
        case .failed(let failure): close(failure.kind, failure.detail)
        }
    }

    /// Asks the proxy for a tunnel, and reads its answer byte by byte, so that nothing of the tunnel is read.
    func openTunnel(now: ContinuousClock.Instant) {
        while !tunnelRequest.isEmpty {
            let count = send(descriptor, tunnelRequest, tunnelRequest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else {
                guard errno == EAGAIN else { return close(.proxy, "the proxy: \(String(cString: strerror(errno)))") }
                return watch(EPOLLOUT.rawValue)
            }
            tunnelRequest.removeFirst(count)
        }
        var byte: UInt8 = 0
        while true {
            let count = recv(descriptor, &byte, 1, 0)
            if count < 0, errno == EAGAIN { return watch(EPOLLIN.rawValue) }
            guard count == 1, tunnelAnswer.count < 16_384 else { return close(.proxy, "the proxy closed the connection") }
            tunnelAnswer.append(byte)
            guard let status = HTTPProxy.status(in: tunnelAnswer) else { continue }
            guard (200..<300).contains(status) else { return close(.proxy, "the proxy answered CONNECT with \(status)") }
            return startHandshake(now: now)
        }
    }
}
