import CCurl

extension TransferLoop {
    /// Queues an exchange for its group.
    func accept(_ exchange: Exchange) {
        if let group = group(exchange.request.connectionGroup) {
            group.add(exchange)
        } else {
            give(exchange, .notWritten, .other, "libcurl gave no handle")
        }
    }

    private func group(_ name: String) -> TransferGroup? {
        if let known = groups.values.first(where: { $0.name == name }) { return known }
        lastGroupNumber &+= 1
        let group = TransferGroup(id: lastGroupNumber, name: name, configuration: configuration, watches: watches)
        groups[lastGroupNumber] = group
        return group
    }

    /// Starts waiting exchanges while the limit allows. True if any was started.
    func start(_ group: TransferGroup) -> Bool {
        let next = group.takeNext(configuration.free(running: running.count, inGroup: group.running))
        for exchange in next {
            if exchange.isCancelled {
                give(exchange, .notWritten, .cancelled, "cancelled before it was sent")
            } else {
                start(exchange, in: group)
            }
        }
        return !next.isEmpty
    }

    private func start(_ exchange: Exchange, in group: TransferGroup) {
        guard let transfer = idle.popLast() ?? Transfer(limits: configuration) else {
            return give(exchange, .notWritten, .other, "libcurl gave no handle")
        }
        transfer.begin(exchange, in: group)
        transfer.index = running.count
        running.append(transfer)
        group.running += 1
        curl_multi_add_handle(group.multi, transfer.easy)
    }

    /// Removes finished transfers from a group. True if there were any.
    func collect(_ group: TransferGroup) -> Bool {
        var hasAny = false
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(group.multi, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = pw_message_result(message)
            var context: UnsafeMutableRawPointer?
            pw_easy_get_pointer(easy, CURLINFO_PRIVATE, &context)
            guard let context else { continue }
            finish(Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue(), code)
            hasAny = true
        }
        return hasAny
    }

    private func finish(_ transfer: Transfer, _ code: CURLcode) {
        let result = transfer.result(code)
        metrics.note(result, connectionsOpened: transfer.connectionsOpened)
        guard let exchange = transfer.exchange, let group = transfer.group else { return release(transfer) }
        if case .failure(let failure) = result {
            // libcurl counts its own retries per handle, across transfers.
            transfer.mustBeDiscarded = true
            // Provably not processed: again at once.
            if failure.isUnprocessed, !exchange.isCancelled, exchange.takeResend(atMost: 3) {
                release(transfer)
                return group.addFirst(exchange)
            }
        }
        finished.append((exchange, result))
        release(transfer)
    }

    /// Takes the transfer out of libcurl and keeps its handle.
    func release(_ transfer: Transfer) {
        if let group = transfer.group {
            curl_multi_remove_handle(group.multi, transfer.easy)
            group.running -= 1
            if group.running == 0 { group.idleSince = ContinuousClock.now }
        }
        let last = running.removeLast()
        if last !== transfer {
            running[transfer.index] = last
            last.index = transfer.index
        }
        transfer.end()
        if idle.count < 1024, !transfer.mustBeDiscarded { idle.append(transfer) }
    }

    /// Drops groups that were not used for long, with their connections: groups come and go.
    func dropIdleGroups(now: ContinuousClock.Instant) {
        for group in groups.values
        where group.running == 0 && group.waiting.isEmpty && now - group.idleSince > configuration.idleLifetime {
            groups[group.id] = nil
        }
    }
}
