import ArgumentParser
import Audit
import CommandLineKit
import Delivery
import Foundation
import Postgres
import PushContract

/// `pushwatch throttles …`
struct ThrottlesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "throttles",
        abstract: "Slow non-critical sends down for a while.",
        discussion: "A throttle expires by itself and never stops all sends: four a minute pass, so that a recovery is noticed.",
        subcommands: [List.self, Add.self, Remove.self]
    )

    /// `pushwatch throttles list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the throttles in force.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON, as GET /sends/throttle returns it.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in try await ThrottlesCommand.show(pool, json: json) }
        }
    }

    /// `pushwatch throttles add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Limit non-critical sends to a rate, or to a share of the last five minutes' rate.",
            discussion: """
                  pushwatch throttles add --provider fcm --per-minute 60 --duration 30m --reason "FCM responds with 503"
                  pushwatch throttles add --app com.example.scores --share 0.5 --reason "campaign"

                Replaces the throttle with the same provider and app.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "apns or fcm; both unless given.") var provider: String?
        @Option(help: "Only this app; every app unless given.") var app: String?
        @Option(help: "Sends a minute. Either this or --share.") var perMinute: Double?
        @Option(help: "Share of the rate of the last five minutes, 0 to 1.") var share: Double?
        @Option(help: "How long it lasts, at most 24h; 30m unless given.", transform: CommandDuration.within(.minutes(1)...(.hours(24))))
        var duration = CommandDuration.minutes(30)
        @Option(help: "Why; shown on the on-call page.") var reason = "set on the command line"
        @Option(help: "Who sets it.") var author: String = NSUserName()
        @Flag(help: "Print JSON, as GET /sends/throttle returns it.") var json = false

        func validate() throws {
            if let provider, Provider(rawValue: provider) == nil { throw ValidationError("--provider must be apns or fcm.") }
            guard (perMinute == nil) != (share == nil) else { throw ValidationError("Pass either --per-minute or --share.") }
            if let share, !(0...1).contains(share) { throw ValidationError("--share must be from 0 to 1.") }
            if let perMinute, !SendThrottle.rates.contains(perMinute) {
                throw ValidationError("--per-minute must be from 0 to \(Int(SendThrottle.rates.upperBound)).")
            }
            if app == "" { throw ValidationError("--app must not be empty; leave it out for every app.") }
        }

        func run() async throws {
            try await options.withPool { pool, _ in
                let now = Timestamp.now()
                let providers = provider.flatMap(Provider.init).map { [$0] } ?? Provider.allCases
                try await ThrottleStore(pool: pool).set(
                    providers.map {
                        SendThrottle(
                            provider: $0,
                            app: app,
                            perMinute: perMinute ?? 0,
                            reason: reason,
                            author: author,
                            createdAt: now,
                            expiresAt: now + duration.duration,
                            share: share
                        )
                    },
                    recording: AuditRecorder(by: author, at: now)
                )
                try await ThrottlesCommand.show(pool, json: json)
            }
        }
    }

    /// `pushwatch throttles remove`
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove the throttles that match before they expire.")

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "Those of this provider: apns or fcm.") var provider: String?
        @Option(help: "Those of this app.") var app: String?
        @Flag(help: "All of them.") var all = false
        @Option(help: "Who removes them.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the number removed.") var json = false

        func validate() throws {
            if let provider, Provider(rawValue: provider) == nil { throw ValidationError("--provider must be apns or fcm.") }
            if app == "" { throw ValidationError("--app must not be empty; leave it out for every app.") }
            guard all != (provider != nil || app != nil) else {
                throw ValidationError("Name the throttles to remove: --provider, --app, or --all.")
            }
        }

        func run() async throws {
            try await options.withPool { pool, _ in
                let removed = try await ThrottleStore(pool: pool).remove(
                    provider: provider.flatMap(Provider.init),
                    app: app,
                    recording: AuditRecorder(by: author)
                )
                if json {
                    try Terminal.printLine(json: ["removed": removed])
                } else if removed > 0 || all {
                    Terminal.printLine("Removed \(removed).")
                }
                // Of a mistyped app, a script would go on as if its throttle were removed.
                guard removed > 0 || all else { throw CommandFailure.check("No throttle matches; `pushwatch throttles list` lists them.") }
            }
        }
    }

    private static func show(_ pool: PostgresPool, json: Bool) async throws {
        let throttles = try await ThrottleStore(pool: pool).current()
        if json { return try Terminal.printLine(json: ThrottleDocument(throttles)) }
        guard !throttles.isEmpty else { return Terminal.printLine("No throttle is in force.") }
        let rows = throttles.map {
            ["\($0.provider)", $0.app ?? "every app", "\($0.perMinute)", "\($0.expiresAt)", $0.author, $0.reason]
        }
        Terminal.printLine(TextTable(["PROVIDER", "APP", "PER MINUTE", "UNTIL", "AUTHOR", "REASON"], rows).text)
    }
}
