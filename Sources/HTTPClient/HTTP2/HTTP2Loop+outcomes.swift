/// The outcomes of requests, and their delivery to the callers.
extension HTTP2Loop {
    /// Takes what has ended on the connections: answers, refusals, and what was lost with a connection.
    ///
    /// - Returns: whether there was anything.
    func collect() -> Bool {
        var hasAny = false
        for pool in pools {
            for connection in pool.connections {
                if let time = connection.takePingTime() { metrics.note(ping: time) }
                for (exchange, ending) in connection.session.takeEnded() {
                    end(exchange, ending, on: connection, pool)
                    hasAny = true
                }
                if connection.phase == .closed {
                    removeClosed(connection, pool)
                    hasAny = true
                }
            }
            pool.connections.removeAll { $0.phase == .closed }
        }
        return hasAny
    }

    func end(_ exchange: HTTP2Exchange, _ ending: HTTP2Session.Ending, on connection: HTTP2Connection, _ pool: HTTP2Pool) {
        connection.noteEnd(isAnswer: ending == .answered && !exchange.stream.isAbandoned, now: now)
        guard !exchange.stream.isAbandoned else { return }
        switch ending {
        case .answered:
            // Until a request is authorised a peer may allow one at a time.
            if exchange.stream.status != 403 { connection.isAuthorized = true }
            pool.noteAnswer()
            let response = OutboundResponse(
                status: exchange.stream.status,
                headers: exchange.stream.headers,
                body: exchange.stream.body,
                isTruncated: exchange.stream.isTruncated,
                connectionId: Int(connection.id),
                connectionOpened: connection.times.opened,
                latency: now - exchange.started,
                responseTime: exchange.stream.submittedAt.map { now - $0 },
                httpVersion: .http2
            )
            give(exchange, .success(response))
        case .unprocessed(let byGoaway):
            resend(exchange, atMost: byGoaway ? 8 : 3, pool) {
                let detail =
                    byGoaway ? "the peer sent GOAWAY and did not process the stream" : "the peer refused the stream as not processed"
                return OutboundFailure(.notWritten, .goaway, detail: detail, connectionId: Int(connection.id))
            }
            if !byGoaway { connection.isRetired = true }
        case .failed(let phase, let kind, let detail):
            if phase == .notWritten, kind == .reset {
                resend(exchange, atMost: 3, pool) { OutboundFailure(phase, kind, detail: detail, connectionId: Int(connection.id)) }
            } else {
                fail(exchange, phase, kind, detail, connection: connection)
            }
        }
    }

    /// A request that the peer did not process goes again at once, a number of times.
    func resend(_ exchange: HTTP2Exchange, atMost limit: Int, _ pool: HTTP2Pool, failure: () -> OutboundFailure) {
        exchange.resent += 1
        if exchange.isCancelled {
            fail(exchange, .notWritten, .cancelled, "cancelled before it was sent")
        } else if exchange.resent > limit {
            var failure = failure()
            failure.latency = now - exchange.started
            give(exchange, .failure(failure))
        } else {
            exchange.stream = HTTP2Exchange.Stream()
            pool.addFirst(exchange)
        }
    }

    /// A connection was closed: what was on it is lost or was never written; if it never was open, those who wait for one get the reason.
    func removeClosed(_ connection: HTTP2Connection, _ pool: HTTP2Pool) {
        connections[connection.id] = nil
        if !connection.hasAnswered { pool.noteFailedOpening(now: now) }
        if let goaway = connection.session.goaway { metrics.note(goaway) }
        if connection.times.pingSentAt != nil, connection.session.open.isEmpty {
            // What idled next to a connection that was lost so is most likely lost, too: each would cost its PING's time.
            for other in pool.connections where other.state(now: now).isUncertain { other.isRetired = true }
        }
        guard let failure = connection.failure else { return }
        // The peer ended TLS because of our certificate, which it does before it reads anything.
        let isRefused = failure.kind == .clientCertificate && !connection.hasAnswered
        for (exchange, ending) in connection.session.takeLost(failure.detail) {
            var ending = ending
            if isRefused, case .failed = ending { ending = .failed(.notWritten, .clientCertificate, failure.detail) }
            end(exchange, ending, on: connection, pool)
        }
        guard !connection.wasUsed, !pool.connections.contains(where: { $0.phase == .open && !$0.isRetired }) else { return }
        for exchange in pool.remove(where: { _ in true }).reversed() {
            let problem = OutboundFailure(.notWritten, failure.kind, detail: failure.detail, connectionId: Int(connection.id))
            if failure.kind == .reset {
                resend(exchange, atMost: 3, pool) { problem }
            } else {
                fail(exchange, .notWritten, failure.kind, failure.detail, connection: connection)
            }
        }
    }

    func fail(
        _ exchange: HTTP2Exchange,
        _ phase: OutboundFailure.Phase,
        _ kind: OutboundFailure.Kind,
        _ detail: String,
        connection: HTTP2Connection? = nil
    ) {
        let id = connection.map { Int($0.id) } ?? 0
        give(exchange, .failure(OutboundFailure(phase, kind, detail: detail, latency: now - exchange.started, connectionId: id)))
    }

    func give(_ exchange: HTTP2Exchange, _ outcome: HTTP2Exchange.Outcome) {
        metrics.note(outcome)
        finished.append((exchange, outcome))
    }

    /// Those who wait are resumed together, so that what they send next belongs to one turn.
    func deliver() {
        guard !finished.isEmpty else { return }
        var blocks: [RequestBlock] = []
        for (exchange, outcome) in finished { exchange.finish(outcome, blocks: &blocks) }
        finished.removeAll(keepingCapacity: true)
        for block in blocks { block.deliver() }
    }
}
