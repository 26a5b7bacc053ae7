import ArgumentParser
import Foundation
import HTTPServer
import PushContract
import Delivery

extension SendsCommand {
    /// `pushwatch circuits list`
    struct Circuits: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "circuits",
            abstract: "Show which credentials are refused and what waits for them, or let it go.",
            discussion: """
                While a provider refuses a credential nothing is wasted on it: what needs it is held, and one try now and then shows whether it \
                is mended. A changed credential is tried at once. A hold ends by itself with the first push that is taken.

                  pushwatch circuits list
                  pushwatch circuits close 7
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "End the hold with this number now. If the credential is still refused, the next refusal holds again.") var close:
            Int64?
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await withPool(options) { pool in
                let store = SendStore(pool: pool, record: { _, _ in })
                if let close, try await store.closeCircuit(close, by: NSUserName()) == false {
                    throw CommandFailure.check("There is no hold \(close), or it has ended already.")
                }
                let circuits = try await store.circuits()
                if json { return try Terminal.printLine(json: circuits.map(CircuitDocument.init)) }
                if circuits.isEmpty { return Terminal.printLine("No credential is refused.") }
                for circuit in circuits {
                    let scope = "\(circuit.scope.provider) \(circuit.scope.app) \(circuit.scope.environment)"
                    Terminal.printLine(
                        "\(circuit.id)  \(scope)\(circuit.scope.platform.map { " \($0)" } ?? ""): \(circuit.cause) since \(circuit.since), "
                            + "\(circuit.refusals) refused, next probe \(circuit.nextProbeAt), credential \(circuit.scope.credential)"
                    )
                }
            }
        }
    }
}
