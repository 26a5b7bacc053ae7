import ArgumentParser
import Foundation
import HTTPServer
import PushContract
import Delivery

extension SendsCommand {
    /// `pushwatch sends dead`
    struct Dead: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "dead",
            abstract: "List deliveries that ended without success, and send them once more.",
            discussion: """
                  pushwatch sends dead --code PayloadTooLarge
                  pushwatch sends dead --send-id goal-17 --redrive
                  pushwatch sends dead --outcome expired --hours 2 --redrive --lifetime-minutes 30

                A redrive is the next try of the same delivery. What has expired lives --lifetime-minutes longer; what was cancelled stays.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "Only of this send, however old.") var sendId: String?
        @Option(help: "failed, expired or unreachable.") var outcome: String?
        @Option(help: "One of the reason codes, such as provider_5xx.") var reason: String?
        @Option(help: "The provider's own code.") var code: String?
        @Option(help: "Only of this app.") var app: String?
        @Option(help: "How far back.") var hours = 24
        @Option(help: "Lines at most.") var limit = 100
        @Flag(help: "Put them back into the queue.") var redrive = false
        @Option(help: "How long what has expired may be tried.") var lifetimeMinutes = 60
        @Flag(help: "Print JSON.") var json = false

        func validate() throws {
            if let outcome, DeadOutcome(rawValue: outcome) == nil {
                throw ValidationError("--outcome must be failed, expired or unreachable.")
            }
            if let reason, ReasonCode(rawValue: reason) == nil {
                throw ValidationError("--reason must be one of \(ReasonCode.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            guard (1...1080).contains(hours) else { throw ValidationError("--hours must be from 1 to 1080.") }
            guard (1...40_320).contains(lifetimeMinutes) else { throw ValidationError("--lifetime-minutes must be from 1 to 40320.") }
            guard !redrive || sendId != nil || outcome != nil || reason != nil || code != nil else {
                throw ValidationError("Say what to redrive: --send-id, --outcome, --reason or --code.")
            }
        }

        func run() async throws {
            try await withPool(options) { pool in
                let store = SendStore(pool: pool, record: { _, _ in })
                let now = Timestamp.now()
                let filter = DeadLetterFilter(
                    sendId: sendId,
                    outcome: outcome.flatMap(DeadOutcome.init),
                    reasonCode: reason.flatMap(ReasonCode.init),
                    providerErrorCode: code,
                    app: app,
                    since: sendId == nil ? now - .seconds(hours * 3600) : Timestamp(seconds: 0),
                    until: now + .seconds(60)
                )
                if redrive {
                    var total = 0
                    var count = SendStore.redriveLimit
                    while count == SendStore.redriveLimit {
                        count = try await store.redrive(filter, lifetime: .seconds(lifetimeMinutes * 60))
                        total += count
                    }
                    return Terminal.say("\(total) deliveries are in the queue again.")
                }
                let letters = try await store.deadLetters(filter, limit: limit)
                if json { return try Terminal.say(json: letters.map(DeadLetterDocument.init)) }
                if letters.isEmpty { return Terminal.say("None.") }
                for letter in letters {
                    let why = [letter.reasonCode?.rawValue, letter.providerErrorCode].compactMap { $0 }.joined(separator: " ")
                    Terminal.say(
                        "\(letter.finishedAt)  \(letter.sendId)  \(letter.uid)/\(letter.deviceId ?? "token")  \(letter.provider)  "
                            + "\(letter.outcome.rawValue)  \(why)  after \(letter.attempts) tries"
                    )
                }
            }
        }
    }
}
