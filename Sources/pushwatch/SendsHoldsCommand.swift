import ArgumentParser
import Foundation
import HTTPServer
import PushContract
import Delivery

extension SendsCommand {
    /// `pushwatch sends holds`
    struct Holds: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "holds",
            abstract: "Show which credentials are refused and what waits for them, or let it go.",
            discussion: """
                While a provider refuses a credential nothing is wasted on it: what needs it is held, and one try now and then shows whether it \
                is mended. A changed credential is tried at once. A hold ends by itself with the first push that is taken.

                  pushwatch sends holds
                  pushwatch sends holds --release 7
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "End the hold with this number now. If the credential is still refused, the next refusal holds again.") var release:
            Int64?
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await withPool(options) { pool in
                let store = SendStore(pool: pool, record: { _, _ in })
                if let release, try await store.releaseHold(release, by: NSUserName()) == false {
                    throw CommandFailure.check("There is no hold \(release), or it has ended already.")
                }
                let holds = try await store.holds()
                if json { return try Terminal.say(json: holds.map(HoldDocument.init)) }
                if holds.isEmpty { return Terminal.say("No credential is refused.") }
                for hold in holds {
                    let place = "\(hold.scope.provider) \(hold.scope.app) \(hold.scope.environment)"
                    Terminal.say(
                        "\(hold.id)  \(place)\(hold.scope.platform.map { " \($0)" } ?? ""): \(hold.cause) since \(hold.since), "
                            + "\(hold.refusals) refused, next probe \(hold.nextProbeAt), credential \(hold.scope.credential)"
                    )
                }
            }
        }
    }
}
