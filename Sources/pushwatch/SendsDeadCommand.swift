import ArgumentParser
import Foundation
import HTTPServer
import PushContract
import Delivery

extension SendsCommand {
    /// `pushwatch dead-letters list`
    struct DeadLetters: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "dead-letters",
            abstract: "List deliveries that ended without success, and send them once more.",
            discussion: """
                  pushwatch dead-letters list --code PayloadTooLarge
                  pushwatch dead-letters retry --send-id goal-17
                  pushwatch dead-letters retry --outcome expired --since 2h --expires-in 30m

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
                    var count = SendStore.retryLimit
                    while count == SendStore.retryLimit {
                        count = try await store.retryDeadLetters(filter, lifetime: .seconds(lifetimeMinutes * 60))
                        total += count
                    }
                    return Terminal.printLine("\(total) deliveries are in the queue again.")
                }
                let letters = try await store.deadLetters(filter, limit: limit)
                if json { return try Terminal.printLine(json: letters.map(DeadLetterDocument.init)) }
                if letters.isEmpty { return Terminal.printLine("None.") }
                for letter in letters {
                    let why = [letter.reasonCode?.rawValue, letter.providerErrorCode].compactMap { $0 }.joined(separator: " ")
                    Terminal.printLine(
                        "\(letter.finishedAt)  \(letter.sendId)  \(letter.uid)/\(letter.deviceId ?? "token")  \(letter.provider)  "
                            + "\(letter.outcome.rawValue)  \(why)  after \(letter.attempts) tries"
                    )
                }
            }
        }
    }
}
