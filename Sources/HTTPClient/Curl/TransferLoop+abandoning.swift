extension TransferLoop {
    func abandonCancelled() {
        for transfer in running.reversed() where transfer.exchange?.isCancelled == true {
            abandon(transfer, kind: .cancelled, detail: "cancelled")
        }
        for group in groups.values {
            for exchange in group.remove(where: \.isCancelled) { give(exchange, .notWritten, .cancelled, "cancelled before it was sent") }
        }
    }

    /// Ends transfers whose wait for a free stream or for the first byte exceeds its limit; libcurl 7.88 enforces neither.
    func abandonOverdue(now: ContinuousClock.Instant) {
        for transfer in running.reversed() {
            if now >= transfer.deadline + TransferLoop.sweepInterval {
                abandon(transfer, kind: .timeout, detail: "no answer in time")
            } else if let until = transfer.firstByteDeadline, now >= until, !transfer.hasFirstByte {
                abandon(transfer, kind: .timeout, detail: "no first byte in time")
            }
        }
        for group in groups.values {
            for exchange in group.remove(where: { now >= $0.deadline }) {
                give(exchange, .notWritten, .timeout, "no free connection in time")
            }
        }
    }

    func abandon(_ transfer: Transfer, kind: OutboundFailure.Kind, detail: String) {
        let phase: OutboundFailure.Phase = transfer.isWholeRequestWritten ? .unanswered : .notWritten
        if let exchange = transfer.exchange { give(exchange, phase, kind, detail, connection: transfer.localPort) }
        release(transfer)
    }

    /// A failure that libcurl does not report.
    func give(
        _ exchange: Exchange,
        _ phase: OutboundFailure.Phase,
        _ kind: OutboundFailure.Kind,
        _ detail: String,
        connection: Int = 0
    ) {
        let failure = OutboundFailure(phase, kind, detail: detail, latency: exchange.latency, connectionId: connection)
        metrics.note(.failure(failure), connectionsOpened: 0)
        finished.append((exchange, .failure(failure)))
    }
}
