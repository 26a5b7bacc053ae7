import CCurl

/// An HTTP/1.1 and HTTP/2 client over libcurl, on one thread, awaited from any task: for receivers, feeds, key sets and access tokens.
///
/// Thread-safe. Requests of one `connectionGroup` share connections. Stops when `shutdown` is called or the last reference is released.
package final class CurlClient: Sendable {
    private let inbox: LoopInbox<Exchange>

    package init(configuration: CurlClientConfiguration) {
        precondition(CurlLibrary.isReady, "libcurl could not be initialised")
        let poller = EventPoller()
        inbox = LoopInbox(poller: poller)
        TransferLoop.start(
            .init(inbox: inbox, poller: poller, configuration: configuration, metrics: HTTPClientMetrics(pool: configuration.pool))
        )
    }

    deinit { inbox.stop() }

    /// Sends a request and waits for the whole answer, at most `request.timeout`.
    ///
    /// A request that the peer provably did not process (REFUSED_STREAM, a connection lost before the request was written) is retried
    /// immediately, at most three times. Cancelling the task aborts the transfer.
    ///
    /// - Throws: `OutboundFailure` if there is no answer.
    package func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            // Unsafe because it is the hot path; `Exchange.finish` is called exactly once, by the loop or here.
            await withUnsafeContinuation { waiter in
                let exchange = Exchange(request: request, flag: flag, waiter: waiter)
                if !inbox.submit(exchange) {
                    exchange.finish(.failure(OutboundFailure(.notWritten, .shutdown, detail: "the client was shut down")))
                }
            }
        } onCancel: {
            flag.set()
            inbox.noteCancellation()
        }.get()
    }

    /// Stops every transfer and the thread. Later requests fail with `.notWritten`.
    package func shutdown() { inbox.stop() }
}
