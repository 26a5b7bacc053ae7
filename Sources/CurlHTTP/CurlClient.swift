import CCurl
package import Logging

/// An HTTP/1.1 and HTTP/2 client: one libcurl multi handle on one thread, awaited from any task.
///
/// Thread-safe. Connections are shared by everything sent through one client, so credentials that must not share a connection (two
/// Apple teams) get a client each. Ends when `shutdown` is called or the last reference goes.
package final class CurlClient: Sendable {
    package let configuration: CurlClientConfiguration
    private let inbox: TransferInbox
    private let logger: Logger

    package init(configuration: CurlClientConfiguration, logger: Logger) {
        precondition(CurlLibrary.isReady, "libcurl could not be initialised")
        guard let multi = curl_multi_init() else { fatalError("libcurl gave no multi handle: out of memory") }
        self.configuration = configuration
        self.logger = logger
        inbox = TransferInbox(multi: multi)
        TransferLoop.start(
            .init(multi: multi, inbox: inbox, configuration: configuration, metrics: CurlMetrics(pool: configuration.pool))
        )
    }

    deinit { inbox.stop() }

    /// Sends the request and waits for the whole answer, at most `request.timeout`.
    ///
    /// A request that the peer provably did not process (REFUSED_STREAM, GOAWAY, a connection that died before the request was out) is
    /// sent once more at once, on another connection; a refused stream by libcurl itself. Cancelling the task aborts the transfer.
    package func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        let first = await exchange(request)
        guard case .failure(let failure) = first, failure.deservesResend else { return try first.get() }
        logger.debug("Resending a request that was not processed", metadata: ["failure": "\(failure)"])
        var again = request
        again.needsFreshConnection = true
        again.timeout = max(.milliseconds(1), request.timeout - failure.latency)
        return try await exchange(again).get()
    }

    /// Ends every transfer and the thread. Requests made later fail as not written.
    package func shutdown() { inbox.stop() }

    private func exchange(_ request: OutboundRequest) async -> Result<OutboundResponse, OutboundFailure> {
        let flag = CancellationFlag()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let exchange = Exchange(request: request, flag: flag, waiter: waiter)
                if !inbox.submit(exchange) {
                    exchange.finish(.failure(OutboundFailure(.notWritten, .shutdown, detail: "the client was shut down")))
                }
            }
        } onCancel: {
            flag.set()
            inbox.noteCancellation()
        }
    }
}
