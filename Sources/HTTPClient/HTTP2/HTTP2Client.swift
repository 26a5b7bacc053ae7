/// An HTTP/2 client over TLS: one thread, awaited from any task. The sender of pushes.
///
/// Tasks that send through it may run on its thread (`Task(executorPreference:)`): then neither a request nor its answer changes threads.
/// They must not block: the connections wait for them.
///
/// Thread-safe. All requests of one client share its connections, so credentials that must not share a connection (two Apple teams) need a
/// client each. Stops when `shutdown` is called or the last reference is released.
package final class HTTP2Client: TaskExecutor {
    private let inbox: LoopInbox<HTTP2Loop.Item>

    package init(configuration: HTTP2ClientConfiguration) {
        BrokenPipe.ignored
        let poller = EventPoller()
        inbox = LoopInbox(poller: poller)
        HTTP2Loop.start(
            HTTP2Loop.Launch(inbox: inbox, poller: poller, configuration: configuration)
        )
    }

    deinit { inbox.stop() }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // What a task has left to do it does elsewhere when the thread has ended.
        if !inbox.submit(.job(job, asUnownedTaskExecutor())) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// Sends a request and waits for the whole answer, at most `request.timeout`.
    ///
    /// A request that the peer provably did not process (REFUSED_STREAM, GOAWAY, a connection lost before the request was written) is sent
    /// again at once on another connection: at most three times, eight after a GOAWAY. Cancelling the task gives the request up.
    ///
    /// - Throws: `OutboundFailure` if there is no answer.
    package func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            // Unsafe because it is the hot path; the loop, or `stopped`, finishes each exchange exactly once.
            await withUnsafeContinuation { waiter in
                let exchange = HTTP2Exchange(request: request, started: .now, receiver: .task(waiter, flag))
                if !inbox.submit(.request(exchange)) { waiter.resume(returning: .failure(HTTP2Client.stopped)) }
            }
        } onCancel: {
            flag.set()
            inbox.noteCancellation()
        }.get()
    }

    /// Sends requests together. For many at once it is cheaper than a task for each.
    /// - Parameter completed: Gets the outcomes in groups, as they arrive, each exactly once. Runs on the client's thread, so it must be
    ///   short.
    package func send(_ requests: [OutboundRequest], completed: @escaping @Sendable ([RequestBlock.Completion]) -> Void) {
        let block = RequestBlock(completed: completed)
        let started = ContinuousClock.now
        let items = requests.enumerated().map { index, request in
            HTTP2Loop.Item.request(HTTP2Exchange(request: request, started: started, receiver: .block(block, index: index)))
        }
        if !inbox.submit(contentsOf: items) {
            completed(requests.indices.map { RequestBlock.Completion(index: $0, result: .failure(HTTP2Client.stopped)) })
        }
    }

    /// Gives up every request and ends the thread. Later requests fail with `.notWritten`.
    package func shutdown() { inbox.stop() }

    private static var stopped: OutboundFailure { OutboundFailure(.notWritten, .shutdown, detail: "the client was shut down") }
}
