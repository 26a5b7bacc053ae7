import ArgumentParser
import CommandLineKit
import Delivery
import Foundation
import PushContract

/// `pushwatch circuits …`
struct CircuitsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "circuits",
        abstract: "See which credentials a provider rejects, and send through them again.",
        discussion: """
            While a provider rejects a credential, the circuit of that credential is open: its deliveries wait, and a probe now and then \
            tests whether it works again. The first accepted push closes the circuit. A changed credential is probed at once.
            """,
        subcommands: [List.self, Close.self]
    )

    /// `pushwatch circuits list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the open circuits.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON, as GET /sends/circuits returns it.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                let circuits = try await SendStore(pool: pool, record: { _, _ in }).circuits()
                if json { return try Terminal.printLine(json: circuits.map(CircuitDocument.init)) }
                if circuits.isEmpty { return Terminal.printLine("No circuit is open.") }
                let rows = circuits.map { circuit in
                    [
                        "\(circuit.id)", "\(circuit.scope.provider)", circuit.scope.app, "\(circuit.scope.environment)",
                        circuit.scope.platform.map { "\($0)" } ?? "every", circuit.cause, "\(circuit.since)", "\(circuit.refusals)",
                        "\(circuit.nextProbeAt)", circuit.scope.credential,
                    ]
                }
                let header = ["ID", "PROVIDER", "APP", "ENVIRONMENT", "PLATFORM", "CAUSE", "SINCE", "REJECTED", "NEXT PROBE", "CREDENTIAL"]
                Terminal.printLine(TextTable(header, rows).text)
            }
        }
    }

    /// `pushwatch circuits close ID`
    struct Close: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Close a circuit now. If the credential is still rejected, the next rejection opens it again."
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The circuit's id, as `pushwatch circuits list` shows it.") var id: Int64
        @Option(help: "Who closes it.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the circuit's id.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                guard try await SendStore(pool: pool, record: { _, _ in }).closeCircuit(id, by: author) else {
                    throw CommandFailure.check("No open circuit has the id \(id).")
                }
                if json { return try Terminal.printLine(json: ["closed": id]) }
                Terminal.printLine("Circuit \(id) is closed.")
            }
        }
    }
}
