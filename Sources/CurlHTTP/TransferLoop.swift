import CCurl
import Glibc

/// The multi handle and the thread that drives it: every transfer of one client.
///
/// Made and used on its own thread; others reach it through the inbox.
final class TransferLoop {
    private let multi: UnsafeMutableRawPointer
    private let inbox: TransferInbox
    private let configuration: CurlClientConfiguration
    private let metrics: CurlMetrics
    private var idle: [Transfer] = []
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]
    private var waiting: [Exchange] = []
    private var nextWaiting = 0
    private var nextSweep = ContinuousClock.now
    private let sweepInterval = Duration.milliseconds(100)

    /// What the thread is started with.
    final class Launch: Sendable {
        nonisolated(unsafe) let multi: UnsafeMutableRawPointer
        let inbox: TransferInbox
        let configuration: CurlClientConfiguration
        let metrics: CurlMetrics

        init(multi: UnsafeMutableRawPointer, inbox: TransferInbox, configuration: CurlClientConfiguration, metrics: CurlMetrics) {
            self.multi = multi
            self.inbox = inbox
            self.configuration = configuration
            self.metrics = metrics
        }
    }

    /// Starts the thread; it ends, and frees everything, after `TransferInbox.stop`.
    static func start(_ launch: Launch) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(launch).toOpaque()
        let status = pthread_create(
            &thread,
            nil,
            { context in
                let launch = Unmanaged<Launch>.fromOpaque(context!).takeRetainedValue()
                TransferLoop(launch).run()
                return nil
            },
            context
        )
        precondition(status == 0, "no thread for the HTTP client: \(status)")
        pthread_detach(thread)
    }

    private init(_ launch: Launch) {
        multi = launch.multi
        inbox = launch.inbox
        configuration = launch.configuration
        metrics = launch.metrics
        pw_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        pw_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.maxStreamsPerConnection)
        pw_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maxConnectionsPerHost)
        // By default libcurl closes idle connections as transfers become fewer.
        pw_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(64, configuration.maxConnectionsPerHost * 4))
    }

    private func run() {
        while true {
            let delivery = inbox.take()
            waiting.append(contentsOf: delivery.arrived)
            if delivery.isStopping { return shutDown() }
            if delivery.hasCancellations { abandonCancelled() }
            startWaiting()
            var active: Int32 = 0
            curl_multi_perform(multi, &active)
            collectFinished()
            abandonExpired()
            // Freed places are filled before sleeping.
            if nextWaiting < waiting.count, running.count < configuration.maxInFlight { continue }
            curl_multi_poll(multi, nil, 0, running.isEmpty ? 60_000 : Int32(sweepInterval.inMilliseconds), nil)
        }
    }

    private func startWaiting() {
        while nextWaiting < waiting.count, running.count < configuration.maxInFlight {
            start(waiting[nextWaiting])
            nextWaiting += 1
        }
        if nextWaiting == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            nextWaiting = 0
        } else if nextWaiting > 4096 {
            waiting.removeFirst(nextWaiting)
            nextWaiting = 0
        }
    }

    private func start(_ exchange: Exchange) {
        guard !exchange.isCancelled else {
            return exchange.finish(.failure(OutboundFailure(.notWritten, .cancelled, detail: "cancelled before it was sent")))
        }
        guard let transfer = idle.popLast() ?? Transfer(limits: configuration) else {
            return exchange.finish(.failure(OutboundFailure(.notWritten, .other, detail: "libcurl gave no handle")))
        }
        transfer.begin(exchange)
        running[transfer.easy] = transfer
        curl_multi_add_handle(multi, transfer.easy)
    }

    private func collectFinished() {
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(multi, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = pw_message_result(message)
            guard let transfer = running[easy] else { continue }
            let result = transfer.result(code)
            metrics.note(result, connectionsOpened: transfer.connectionsOpened)
            release(transfer, result)
        }
    }

    private func abandonCancelled() {
        for transfer in running.values where transfer.exchange?.isCancelled == true {
            abandon(transfer, kind: .cancelled, detail: "cancelled")
        }
        var kept: [Exchange] = []
        for exchange in waiting[nextWaiting...] {
            // Asked once: the flag may be set at any moment, and an exchange is either kept or finished.
            if exchange.isCancelled {
                exchange.finish(.failure(OutboundFailure(.notWritten, .cancelled, detail: "cancelled before it was sent")))
            } else {
                kept.append(exchange)
            }
        }
        waiting = kept
        nextWaiting = 0
    }

    /// libcurl 7.88 does not time a transfer that waits for a free stream; here is where it ends.
    private func abandonExpired() {
        let now = ContinuousClock.now
        guard now >= nextSweep else { return }
        nextSweep = now + sweepInterval
        for transfer in running.values where now >= transfer.deadline + sweepInterval {
            abandon(transfer, kind: .timeout, detail: "no answer in time")
        }
    }

    private func abandon(_ transfer: Transfer, kind: OutboundFailure.Kind, detail: String) {
        let phase: OutboundFailure.Phase = transfer.isWholeRequestWritten ? .unanswered : .notWritten
        let latency = transfer.exchange?.latency ?? .zero
        let failure = OutboundFailure(phase, kind, detail: detail, latency: latency)
        metrics.note(.failure(failure), connectionsOpened: 0)
        release(transfer, .failure(failure))
    }

    /// Takes the transfer out of libcurl, tells the waiting task, keeps the handle.
    private func release(_ transfer: Transfer, _ result: Result<OutboundResponse, OutboundFailure>) {
        curl_multi_remove_handle(multi, transfer.easy)
        running[transfer.easy] = nil
        let exchange = transfer.exchange
        transfer.end()
        if idle.count < 256 { idle.append(transfer) }
        exchange?.finish(result)
    }

    private func shutDown() {
        for transfer in Array(running.values) { abandon(transfer, kind: .shutdown, detail: "the client was shut down") }
        for exchange in waiting[nextWaiting...] {
            exchange.finish(.failure(OutboundFailure(.notWritten, .shutdown, detail: "the client was shut down")))
        }
        waiting = []
        idle = []
        inbox.close()
        curl_multi_cleanup(multi)
    }
}
