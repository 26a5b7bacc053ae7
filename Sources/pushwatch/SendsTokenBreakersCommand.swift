import ArgumentParser
import Delivery
import Foundation
import PushContract

extension SendsCommand {
    /// `pushwatch sends token-breakers`
    struct TokenBreakers: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "token-breakers",
            abstract: "Show where too many tokens were refused at once, and decide what becomes of them.",
            discussion: """
                When more tokens of an app are refused than ever die at once, nothing more is switched off: the tokens are put aside (suspect) \
                until somebody has looked. A wrong environment, topic or project does that to every token.

                  pushwatch sends token-breakers
                  pushwatch sends token-breakers --undo 3       the configuration was wrong: every token is as it was before
                  pushwatch sends token-breakers --release 3    the tokens are dead: switch them off, and do not ask again for a day
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "Number of the breaker whose refusals were right.") var release: Int64?
        @Option(help: "Number of the breaker whose refusals were wrong.") var undo: Int64?
        @Flag(help: "Print JSON.") var json = false

        func validate() throws {
            guard release == nil || undo == nil else { throw ValidationError("Either --release or --undo, not both.") }
        }

        func run() async throws {
            try await withPool(options) { pool in
                let store = TokenBreakerStore(pool: pool)
                if let release { try say(try await store.release(release, by: NSUserName()), "switched off", release) }
                if let undo { try say(try await store.undo(undo, by: NSUserName()), "active again", undo) }
                let open = try await store.open()
                if json { return try Terminal.say(json: open.map(TokenBreakerDocument.init)) }
                if open.isEmpty { return Terminal.say("No breaker is open.") }
                for breaker in open {
                    let place = "\(breaker.place.provider) \(breaker.place.app) \(breaker.place.environment)"
                    Terminal.say(
                        "\(breaker.id)  \(place): \(breaker.counts.ambiguous + breaker.counts.gone) of \(breaker.counts.judged) refused "
                            + "(\(breaker.cause)) at \(breaker.openedAt); \(breaker.withheld) tokens put aside, \(breaker.switchedOff) switched off "
                            + "before, credential \(breaker.place.credential)"
                    )
                }
            }
        }

        private func say(_ tokens: Int?, _ state: String, _ id: Int64) throws {
            guard let tokens else { throw CommandFailure.check("No open breaker has the number \(id).") }
            if !json { Terminal.say("\(tokens) tokens are \(state).") }
        }
    }
}
