import CCurl

extension TransferLoop {
    /// Queues an exchange for its origin.
    func accept(_ exchange: Exchange) {
        let pool = pool(for: exchange.request)
        if let port = exchange.request.avoidedConnection { pool.retire(port: port) }
        pool.add(exchange)
    }

    private func pool(for request: OutboundRequest) -> Pool {
        if let known = pools.first(where: { $0.serves(request) }) { return known }
        let pool =
            configuration.isPooled ? Pool(origin: Pool.origin(of: request.url)) : Pool(origin: [], group: request.connectionGroup)
        pools.append(pool)
        return pool
    }

    /// Assigns waiting exchanges to connections while there is capacity. True if any was assigned.
    func assign(_ pool: Pool) -> Bool {
        var hasTaken = false
        while running.count < configuration.maxInFlight, pool.hasWaiting {
            guard let connection = connection(for: pool) else { return hasTaken }
            while let exchange = pool.takeNext() {
                hasTaken = true
                guard !exchange.isCancelled else {
                    give(exchange, .notWritten, .cancelled, "cancelled before it was sent")
                    continue
                }
                start(exchange, on: connection, pool)
                break
            }
        }
        return hasTaken
    }

    private func connection(for pool: Pool) -> Connection? {
        guard configuration.isPooled else { return pool.connections.first ?? open(pool) }
        switch ConnectionChoice.pick(pool.connections.map(\.state), rules: configuration.connectionRules) {
        case .use(let index): return pool.connections[index]
        case .open: return open(pool)
        case .wait: return nil
        }
    }

    private func open(_ pool: Pool) -> Connection? {
        lastConnectionNumber &+= 1
        guard
            let connection = Connection(
                id: lastConnectionNumber,
                isPooled: configuration.isPooled,
                configuration: configuration,
                watches: watches
            )
        else {
            return nil
        }
        pool.connections.append(connection)
        connections[connection.id] = connection
        return connection
    }

    private func start(_ exchange: Exchange, on connection: Connection, _ pool: Pool) {
        guard let transfer = idle.popLast() ?? Transfer(limits: configuration) else {
            return give(exchange, .notWritten, .other, "libcurl gave no handle")
        }
        transfer.begin(exchange, on: connection, of: pool)
        transfer.index = running.count
        running.append(transfer)
        connection.running += 1
        connection.unissued += 1
        curl_multi_add_handle(connection.multi, transfer.easy)
    }

    /// Removes finished transfers from a connection. True if there were any.
    func collect(_ connection: Connection) -> Bool {
        var hasAny = false
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(connection.multi, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = pw_message_result(message)
            var context: UnsafeMutableRawPointer?
            pw_easy_get_pointer(easy, CURLINFO_PRIVATE, &context)
            guard let context else { continue }
            finish(Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue(), code, on: connection)
            hasAny = true
        }
        return hasAny
    }

    private func finish(_ transfer: Transfer, _ code: CURLcode, on connection: Connection) {
        let result = transfer.result(code)
        metrics.note(result, connectionsOpened: transfer.connectionsOpened)
        switch result {
        // Until a request is authorised a peer may allow one at a time.
        case .success(let response): if response.status != 403 { connection.isAuthorized = true }
        case .failure(let failure):
            // libcurl counts its own retries per handle, across transfers.
            transfer.mustBeDiscarded = true
            if !connection.isAuthorized || failure.kind == .reset || failure.kind == .goaway {
                connection.isRetired = configuration.isPooled
            }
            // Provably not processed: retry immediately on another connection.
            if let exchange = transfer.exchange, let pool = transfer.pool, failure.isUnprocessed, !exchange.isCancelled,
                exchange.takeResend(atMost: transfer.isUnprocessedByGoaway ? 8 : 3)
            {
                release(transfer)
                pool.addFirst(exchange)
                return
            }
        }
        if let exchange = transfer.exchange { finished.append((exchange, result)) }
        release(transfer)
    }

    /// After a GOAWAY: requests that the peer will not process, or that were not started, move to another connection; libcurl would let
    /// them wait on the closed one. True if there were any.
    func reassign(from connection: Connection) -> Bool {
        connection.hasUnhandledGoaway = false
        var hasAny = false
        for transfer in running.reversed()
        where transfer.connection === connection && (!transfer.wasIssued || transfer.isUnprocessedByGoaway) {
            guard let exchange = transfer.exchange, let pool = transfer.pool else { continue }
            transfer.mustBeDiscarded = true
            hasAny = true
            // A started request counts as retried, as when libcurl detects the refusal itself.
            if transfer.wasIssued, !exchange.takeResend(atMost: 8) {
                give(exchange, .notWritten, .goaway, TransferDiagnosis.goawayDetail, connection: transfer.localPort)
                release(transfer)
            } else {
                release(transfer)
                pool.addFirst(exchange)
            }
        }
        return hasAny
    }

    /// Takes the transfer out of libcurl and keeps its handle.
    func release(_ transfer: Transfer) {
        if let connection = transfer.connection {
            curl_multi_remove_handle(connection.multi, transfer.easy)
            connection.running -= 1
            if !transfer.wasIssued { connection.unissued -= 1 }
            if connection.running == 0 { connection.idleSince = ContinuousClock.now }
        }
        let last = running.removeLast()
        if last !== transfer {
            running[transfer.index] = last
            last.index = transfer.index
        }
        transfer.end()
        if idle.count < 1024, !transfer.mustBeDiscarded { idle.append(transfer) }
    }

    /// Closes retired connections without requests, and idle ones; one idle for a while counts as new, since the peer may
    /// have closed it. A pool without connections is dropped: groups come and go.
    func closeIdleConnections(now: ContinuousClock.Instant) {
        for pool in pools {
            for connection in pool.connections
            where connection.running == 0 && connection.isAuthorized && now - connection.idleSince > .seconds(30) {
                connection.isAuthorized = false
            }
            pool.connections.removeAll { connection in
                guard connection.running == 0, connection.isRetired || now - connection.idleSince > configuration.idleLifetime else {
                    return false
                }
                connections[connection.id] = nil
                return true
            }
        }
        pools.removeAll { $0.connections.isEmpty && !$0.hasWaiting }
    }
}
