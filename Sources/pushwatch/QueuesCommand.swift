import ArgumentParser
import Audit
import CommandLineKit
import Delivery
import Foundation
import PushContract

/// `pushwatch queues …`
struct QueuesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queues",
        abstract: "See what waits to be sent.",
        subcommands: [List.self, Resume.self]
    )

    /// `pushwatch queues list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the queues: what waits in each, and when it will be sent.",
            discussion: """
                A queue is an app, a provider, an environment and a class. QUEUED are first attempts that are due, RETRYING are deliveries whose \
                attempt failed and that are attempted again, also when they are due. IN and OUT are of the last minute. TREND: empty; \
                draining, with the seconds until nothing waits; steady; growing; unknown where no instance that sends has run in the \
                last minute. Open circuits, open deactivation limiters and rate-limit pauses, which make \
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
                    let asked = pause.requestedUntil.map { " It asked for \($0)." } ?? ""
                    Terminal.printLine(
                        "PAUSED: \(pause.provider) asked for fewer requests to \(pause.app) (\(pause.cause)) until \(pause.until).\(asked) "
                            + "See `pushwatch queues resume`."
                    )
                }
            }
        }

        private func show(_ backlog: Backlog) {
            if backlog.queues.isEmpty { return Terminal.printLine("No queue exists: nothing has been sent yet.") }
            let rows = backlog.queues.sorted { $0.waiting > $1.waiting }.map { queue in
                [
                    queue.queue.app, "\(queue.queue.provider)", "\(queue.queue.environment)", "\(queue.queue.deliveryClass)",
                    queue.oldestReadyAt.map { "\(Int((backlog.at - $0).inSeconds)) s" } ?? "–",
                ] + columns(.queued(of: [queue], now: backlog.at)) + columns(.retries(of: [queue], now: backlog.at))
                    + ["\(queue.scheduled)", "\(queue.blocked)", "\(queue.sending)"]
            }
            let header = [
                "APP", "PROVIDER", "ENVIRONMENT", "CLASS", "OLDEST", "QUEUED", "IN", "OUT", "TREND", "RETRYING", "IN", "OUT", "TREND",
                "SCHEDULED",
                "BLOCKED", "SENDING",
            ]
            Terminal.printLine(TextTable(header, rows).text)
            for circuit in backlog.circuits {
                Terminal.printLine("CIRCUIT OPEN since \(circuit.since): \(circuit.summary). See `pushwatch circuits list`.")
            }
        }

        private func columns(_ drain: Drain) -> [String] {
            let eta = drain.eta.map { ", \(Int($0.inSeconds.rounded(.up))) s" } ?? ""
            return ["\(drain.waiting)", drain.arrived.map { "\($0)" } ?? "–", "\(drain.ended)", drain.trend.rawValue + eta]
        }
    }

    /// `pushwatch queues resume --provider fcm --app com.example.app`
    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a rate-limit pause and send again. If the provider still asks for fewer requests, it pauses the queues again."
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "apns or fcm.") var provider: String
        @Option(help: "The app, as `pushwatch queues list` shows it.") var app: String
        @Option(help: "Who ends it.") var author: String = NSUserName()
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            guard let known = Provider(rawValue: provider) else {
                throw CommandFailure(message: "--provider must be apns or fcm, not \(provider).", code: 2)
            }
            try await options.withPool { pool, _ in
                let store = SendStore(pool: pool, record: { _, _ in })
                guard try await store.endPause(provider: known, app: app, recording: AuditRecorder(by: author)) else {
                    throw CommandFailure.check("\(known) did not pause \(app). See `pushwatch queues list`.")
                }
                if json { return try Terminal.printLine(json: ["provider": known.rawValue, "app": app]) }
                Terminal.printLine("\(app) is sent to again through \(known).")
            }
        }
    }
}
