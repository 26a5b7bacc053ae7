import ArgumentParser
import CommandLineKit
import Delivery
import PushContract

/// `pushwatch queues …`
struct QueuesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queues",
        abstract: "See what waits to be sent.",
        subcommands: [List.self]
    )

    /// `pushwatch queues list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the queues: what waits in each, and when it will be sent.",
            discussion: """
                A queue is an app, a provider and a class. Open circuits, open deactivation limiters and rate-limit pauses, which make \
                deliveries wait, follow the queues.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON, as GET /sends/backlog returns it.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                let backlog = try await SendStore(pool: pool, record: { _, _ in }).backlog()
                if json { return try Terminal.printLine(json: BacklogDocument(backlog)) }
                show(backlog)
                for limiter in try await DeactivationLimiterStore(pool: pool).open() {
                    Terminal.printLine(
                        "LIMITER OPEN: \(limiter.scope.provider) rejected too many tokens of \(limiter.scope.app) (\(limiter.cause)); no token is "
                            + "deactivated. See `pushwatch limiters list`."
                    )
                }
                for pause in backlog.pauses {
                    Terminal.printLine(
                        "PAUSED: \(pause.provider) asked for fewer requests to \(pause.app) (\(pause.cause)) until \(pause.until)."
                    )
                }
            }
        }

        private func show(_ backlog: Backlog) {
            if backlog.queues.isEmpty { return Terminal.printLine("No queue exists: nothing has been sent yet.") }
            let rows = backlog.queues.sorted { $0.ready + $0.retrying > $1.ready + $1.retrying }.map { queue in
                [
                    queue.queue.app, "\(queue.queue.provider)", queue.queue.isCritical ? "critical" : "non-critical", "\(queue.ready)",
                    queue.oldestReadyAt.map { "\(Int((backlog.at - $0).inSeconds)) s" } ?? "–", "\(queue.retrying)", "\(queue.scheduled)",
                    "\(queue.blocked)", "\(queue.sending)", queue.drain.words,
                ]
            }
            let header = ["APP", "PROVIDER", "CLASS", "READY", "OLDEST", "RETRYING", "SCHEDULED", "BLOCKED", "SENDING", "EMPTY"]
            Terminal.printLine(TextTable(header, rows).text)
            for circuit in backlog.circuits {
                Terminal.printLine(
                    "CIRCUIT OPEN: \(circuit.scope.provider) rejects the credential of \(circuit.scope.app) (\(circuit.scope.environment)) since "
                        + "\(circuit.since): \(circuit.cause). See `pushwatch circuits list`."
                )
            }
        }
    }
}

extension DrainEstimate {
    fileprivate var words: String {
        switch self {
        case .empty: "now"
        case .after(let duration): "in about \(Int(duration.inSeconds)) s"
        case .growing: "never at this rate: growing"
        }
    }
}
