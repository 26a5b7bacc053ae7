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
        subcommands: [BacklogCommand.self, Throttle.self, Holds.self, TokenBreakers.self, Dead.self]
    )

    /// `pushwatch sends backlog`
    struct BacklogCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backlog",
            abstract: "What waits in each lane, and when it will be gone."
        )

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            try await withPool(options) { pool in
                let backlog = try await SendStore(pool: pool, record: { _, _ in }).backlog()
                if backlog.lanes.isEmpty { Terminal.say("Nothing was ever sent.") }
                for lane in backlog.lanes.sorted(by: { $0.ready + $0.retrying > $1.ready + $1.retrying }) {
                    let urgency = lane.lane.isCritical ? "critical" : "non-critical"
                    let oldest = lane.oldestReadyAt.map { ", oldest \(Int((backlog.at - $0).inSeconds)) s" } ?? ""
                    Terminal.say(
                        "\(lane.lane.app) \(lane.lane.provider) \(urgency): \(lane.ready) ready\(oldest), \(lane.retrying) retrying, "
                            + "\(lane.scheduled) scheduled, \(lane.held) held, \(lane.sending) being sent; \(lane.drain.words)"
                    )
                }
                for hold in backlog.holds {
                    Terminal.say(
                        "HELD: \(hold.scope.provider) refuses the credential of \(hold.scope.app) (\(hold.scope.environment)) since \(hold.since): "
                            + "\(hold.cause). See `pushwatch sends holds`."
                    )
                }
                for breaker in try await TokenBreakerStore(pool: pool).open() {
                    Terminal.say(
                        "TOKENS: \(breaker.place.provider) refused too many tokens of \(breaker.place.app) (\(breaker.cause)); none is switched "
                            + "off. See `pushwatch sends token-breakers`."
                    )
                }
                for pause in backlog.pauses {
                    Terminal.say(
                        "PAUSED: \(pause.provider) asked for fewer requests to \(pause.app) (\(pause.cause)), until \(pause.until)."
                    )
                }
            }
        }
    }

    /// `pushwatch sends throttle`
    struct Throttle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Slow non-critical sends down for a while, or lift that again.",
            discussion: """
                Without options it shows the throttles in force. A throttle expires by itself, and never stops the flow: four a minute go \
                through, so that recovery can be seen.

                  pushwatch sends throttle --provider fcm --per-minute 60 --minutes 30 --reason "FCM answers 503"
                  pushwatch sends throttle --provider fcm --lift
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
                    let lifted = try await store.lift(provider: chosen, app: app)
                    Terminal.say(lifted == 0 ? "There was no such throttle." : "Lifted \(lifted).")
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
                if current.isEmpty { Terminal.say("No throttle is in force.") }
                for throttle in current {
                    Terminal.say(
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
