import ArgumentParser
import Delivery
import Foundation
import Logging
import HTTPServer
import Postgres
import PushContract
import Server

/// `pushwatch sends …`
struct SendsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sends",
        abstract: "Look at the sending queue, throttle it, and see what is held.",
        subcommands: [QueuesCommand.self, Throttle.self, Circuits.self, DeactivationLimiters.self, DeadLetters.self]
    )

    /// `pushwatch queues list`
    struct QueuesCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "What waits in each queue, and when it will be gone."
        )

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            try await withPool(options) { pool in
                let backlog = try await SendStore(pool: pool, record: { _, _ in }).backlog()
                if backlog.queues.isEmpty { Terminal.printLine("Nothing was ever sent.") }
                for queue in backlog.queues.sorted(by: { $0.ready + $0.retrying > $1.ready + $1.retrying }) {
                    let urgency = queue.queue.isCritical ? "critical" : "non-critical"
                    let oldest = queue.oldestReadyAt.map { ", oldest \(Int((backlog.at - $0).inSeconds)) s" } ?? ""
                    Terminal.printLine(
                        "\(queue.queue.app) \(queue.queue.provider) \(urgency): \(queue.ready) ready\(oldest), \(queue.retrying) retrying, "
                            + "\(queue.scheduled) scheduled, \(queue.blocked) blocked, \(queue.sending) being sent; \(queue.drain.words)"
                    )
                }
                for circuit in backlog.circuits {
                    Terminal.printLine(
                        "HELD: \(circuit.scope.provider) refuses the credential of \(circuit.scope.app) (\(circuit.scope.environment)) since \(circuit.since): "
                            + "\(circuit.cause). See `pushwatch circuits list`."
                    )
                }
                for limiter in try await DeactivationLimiterStore(pool: pool).open() {
                    Terminal.printLine(
                        "TOKENS: \(limiter.scope.provider) refused too many tokens of \(limiter.scope.app) (\(limiter.cause)); none is switched "
                            + "off. See `pushwatch limiters list`."
                    )
                }
                for pause in backlog.pauses {
                    Terminal.printLine(
                        "PAUSED: \(pause.provider) asked for fewer requests to \(pause.app) (\(pause.cause)), until \(pause.until)."
                    )
                }
            }
        }
    }

    /// `pushwatch throttles list`
    struct Throttle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Slow non-critical sends down for a while, or lift that again.",
            discussion: """
                Without options it shows the throttles in force. A throttle expires by itself, and never stops the flow: four a minute go \
                through, so that recovery can be seen.

                  pushwatch throttles add --provider fcm --per-minute 60 --duration 30m --reason "FCM answers 503"
                  pushwatch throttles remove --provider fcm
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "apns or fcm; without it both.") var provider: String?
        @Option(help: "Only this app.") var app: String?
        @Option(help: "Sends a minute.") var perMinute: Double?
        @Option(help: "Instead: a share of what went during the last five minutes, 0 to 1.") var share: Double?
        @Option(help: "For how long.") var minutes: Int = 30
        @Option(help: "Why; shown to the others on call.") var reason = "set on the command line"
        @Flag(help: "Lift the throttles that match.") var lift = false

        func validate() throws {
            if let provider, Provider(rawValue: provider) == nil { throw ValidationError("--provider must be apns or fcm.") }
            if let share, !(0...1).contains(share) { throw ValidationError("--share must be from 0 to 1.") }
            guard perMinute == nil || share == nil else { throw ValidationError("Either --per-minute or --share, not both.") }
            if let perMinute, perMinute < 0 { throw ValidationError("--per-minute must not be negative.") }
            guard (1...1440).contains(minutes) else { throw ValidationError("--minutes must be from 1 to 1440.") }
        }

        func run() async throws {
            try await withPool(options) { pool in
                let store = ThrottleStore(pool: pool)
                let chosen = provider.flatMap(Provider.init)
                if lift {
                    let lifted = try await store.remove(provider: chosen, app: app)
                    Terminal.printLine(lifted == 0 ? "There was no such throttle." : "Lifted \(lifted).")
                } else if perMinute != nil || share != nil {
                    let now = Timestamp.now()
                    try await store.set(
                        (chosen.map { [$0] } ?? Provider.allCases).map {
                            SendThrottle(
                                provider: $0,
                                app: app,
                                perMinute: perMinute ?? 0,
                                reason: reason,
                                author: NSUserName(),
                                createdAt: now,
                                expiresAt: now + .seconds(minutes * 60),
                                share: share
                            )
                        }
                    )
                }
                let current = try await store.current()
                if current.isEmpty { Terminal.printLine("No throttle is in force.") }
                for throttle in current {
                    Terminal.printLine(
                        "\(throttle.provider) \(throttle.app ?? "every app"): \(throttle.perMinute) a minute until \(throttle.expiresAt), "
                            + "by \(throttle.author): \(throttle.reason)"
                    )
                }
            }
        }
    }
}

extension DrainEstimate {
    fileprivate var words: String {
        switch self {
        case .empty: "nothing waits"
        case .after(let duration): "drained in about \(Int(duration.inSeconds)) s"
        case .growing: "growing, no end in sight"
        }
    }
}

/// A small pool for a command, with the database's absence as the command's failure.
func withPool(_ options: ConfigurationOptions, _ body: (PostgresPool) async throws -> Void) async throws {
    LogBootstrap.bootstrap(level: .warning)
    let configuration = try await options.load()
    let pool = PostgresPool(
        configuration: PostgresConfiguration(url: configuration.databaseURL, maxConnections: 2, applicationName: "pushwatch"),
        logger: Logger(label: "pushwatch")
    )
    defer { pool.close() }
    do {
        try await body(pool)
    } catch let error as PostgresError where error.isUnavailable {
        throw CommandFailure.environment("The database cannot be reached: \(error.message)")
    } catch let error as PostgresError where error.code == .undefinedTable {
        throw CommandFailure.check("The database has no schema yet. Run `pushwatch migrate`.")
    }
}
