import ArgumentParser
import Delivery
import Foundation
import PushContract

extension SendsCommand {
    /// `pushwatch limiters list`
    struct DeactivationLimiters: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "deactivation-limiters",
            abstract: "Show where too many tokens were refused at once, and decide what becomes of them.",
            discussion: """
                When more tokens of an app are refused than ever die at once, nothing more is switched off: the tokens are put aside (suspect) \
                until somebody has looked. A wrong environment, topic or project does that to every token.

                  pushwatch limiters list
                  pushwatch limiters undo 3       the configuration was wrong: every token is as it was before
                  pushwatch limiters confirm 3    the tokens are dead: switch them off, and do not ask again for a day
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "Number of the limiter whose refusals were right.") var confirm: Int64?
        @Option(help: "Number of the limiter whose refusals were wrong.") var undo: Int64?
        @Flag(help: "Print JSON.") var json = false

        func validate() throws {
            guard confirm == nil || undo == nil else { throw ValidationError("Either --release or --undo, not both.") }
        }

        func run() async throws {
            try await withPool(options) { pool in
                let store = DeactivationLimiterStore(pool: pool)
                if let confirm { try report(try await store.confirm(confirm, by: NSUserName()), "switched off", confirm) }
                if let undo { try report(try await store.undo(undo, by: NSUserName()), "active again", undo) }
                let open = try await store.open()
                if json { return try Terminal.printLine(json: open.map(DeactivationLimiterDocument.init)) }
                if open.isEmpty { return Terminal.printLine("No limiter is open.") }
                for limiter in open {
                    let scope = "\(limiter.scope.provider) \(limiter.scope.app) \(limiter.scope.environment)"
                    Terminal.printLine(
                        "\(limiter.id)  \(scope): \(limiter.counts.ambiguous + limiter.counts.gone) of \(limiter.counts.total) refused "
                            + "(\(limiter.cause)) at \(limiter.openedAt); \(limiter.deferred) tokens put aside, \(limiter.deactivated) switched off "
                            + "before, credential \(limiter.scope.credential)"
                    )
                }
            }
        }

        private func report(_ tokens: Int?, _ state: String, _ id: Int64) throws {
            guard let tokens else { throw CommandFailure.check("No open limiter has the number \(id).") }
            if !json { Terminal.printLine("\(tokens) tokens are \(state).") }
        }
    }
}
