/// Limits of time: opening, PING, idleness and age.
extension HTTP2Connection {
    /// A request begins on it.
    func noteRequest(now: ContinuousClock.Instant) {
        isTouched = true
        times.lastUsed = now
        if session.open.isEmpty { times.busySince = now }
    }

    /// A request on it has ended.
    func noteEnd(isAnswer: Bool, now: ContinuousClock.Instant) {
        times.lastUsed = now
        guard isAnswer else { return }
        hasAnswered = true
        times.pings = 0
    }

    func sweep(now: ContinuousClock.Instant) {
        switch phase {
        case .closed: break
        case .lookup, .connecting, .tunnel, .handshake, .settings:
            if now >= deadline {
                addressHistory.noteFailure(of: address, now: now)
                close(.connectTimeout, "no connection within \(configuration.connectTimeout)")
            } else if phase != .lookup, phase != .settings, let addressDeadline, now >= addressDeadline, !addresses.isEmpty {
                connectNext(after: TLSSocket.Failure(kind: .connectTimeout, detail: "no connection"), now: now)
            }
        case .open:
            switch ConnectionPolicy.action(times, use, limits: configuration, now: now) {
            case .nothing: break
            case .ping: ping(now: now)
            case .retire: isRetired = true
            case .end: end()
            case .lost: close(.reset, "no answer to PING within \(configuration.pingTimeout)")
            }
        }
    }

    private var use: ConnectionUse {
        ConnectionUse(
            running: session.open.count,
            hasWaiter: session.open.contains { !$0.stream.isAbandoned },
            isRetired: isRetired,
            grantsStreams: session.maxStreams > 0
        )
    }

    func ping(now: ContinuousClock.Instant) {
        session.ping()
        times.pings += 1
        times.pingSentAt = now
        flush()
    }

    func notePingAnswer(now: ContinuousClock.Instant) {
        guard let sent = times.pingSentAt else { return }
        pingTime = now - sent
        times.pingSentAt = nil
    }

    func takePingTime() -> Duration? {
        defer { pingTime = nil }
        return pingTime
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
}
