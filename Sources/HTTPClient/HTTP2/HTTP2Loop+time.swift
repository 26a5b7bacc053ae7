/// Limits of time, requests that are given up, and the end.
extension HTTP2Loop {
    func sweep() {
        nextSweep = now + HTTP2Loop.sweepInterval
        for pool in pools {
            for exchange in pool.remove(where: { now >= $0.deadline }) {
                // What a waiting request waited for says more than that it did.
                let isConnected = pool.connections.isEmpty || pool.connections.contains { $0.phase == .open }
                fail(exchange, .notWritten, isConnected ? .streamTimeout : .connectTimeout, "no free connection in time")
            }
            for connection in pool.connections {
                for exchange in connection.session.open where !exchange.stream.isAbandoned {
                    if now >= exchange.deadline {
                        abandon(exchange, on: connection, .timeout, "no answer in time")
                    } else if let limit = exchange.request.firstByteTimeout, !exchange.stream.hasFirstByte,
                        let submitted = exchange.stream.submittedAt, now - submitted >= limit
                    {
                        abandon(exchange, on: connection, .timeout, "no first byte in time")
                    }
                }
                connection.sweep(now: now)
            }
            if !pool.connections.isEmpty || pool.hasWaiting { pool.lastUsed = now }
        }
        // An origin that closes its connections after each answer is still known when the next request comes.
        pools.removeAll { now - $0.lastUsed >= AddressHistory.memory }
        metrics.measure(pools.lazy.flatMap(\.connections))
    }

    func abandonCancelled() {
        for pool in pools {
            for exchange in pool.remove(where: \.isCancelled) { fail(exchange, .notWritten, .cancelled, "cancelled before it was sent") }
            for connection in pool.connections {
                for exchange in connection.session.open where !exchange.stream.isAbandoned && exchange.isCancelled {
                    abandon(exchange, on: connection, .cancelled, "cancelled")
                }
            }
        }
    }

    /// Gives the outcome of a request that is not waited for any longer, and gives its stream back.
    func abandon(_ exchange: HTTP2Exchange, on connection: HTTP2Connection, _ kind: OutboundFailure.Kind, _ detail: String) {
        fail(exchange, connection.session.abandon(exchange), kind, detail, connection: connection)
        let isSilent = exchange.stream.submittedAt.map { connection.times.lastReceived <= $0 } ?? false
        // A first request that is not answered shows nothing of the next one; where nothing at all came meanwhile, nothing will.
        if !connection.session.acceptsResets || kind == .timeout && (!connection.isAuthorized || isSilent) { connection.isRetired = true }
        connection.isTouched = true
    }

    func shutDown() {
        _ = collect()
        for pool in pools {
            for exchange in pool.remove(where: { _ in true }) { fail(exchange, .notWritten, .shutdown, "the client was shut down") }
            for connection in pool.connections {
                for exchange in connection.session.open where !exchange.stream.isAbandoned {
                    abandon(exchange, on: connection, .shutdown, "the client was shut down")
                }
                connection.end()
            }
        }
        deliver()
        metrics.measure([])
        pools = []
        connections = [:]
    }
}
