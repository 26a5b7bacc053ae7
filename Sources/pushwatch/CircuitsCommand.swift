import ArgumentParser
import Audit
import CommandLineKit
import Delivery
import Foundation
import PushContract

/// `pushwatch circuits …`
struct CircuitsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "circuits",
        abstract: "See what providers reject or cannot take, and send again.",
        discussion: """
            While a provider rejects a credential or a topic, answers every push with a server error, or cannot be reached, a circuit is \
            open: the deliveries in its scope wait, and a probe tests at intervals whether they succeed again. The first success closes \
            the circuit, and everything due is sent at once, critical deliveries first. A changed credential is probed at once.
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
                if json { return try Terminal.printLine(json: CircuitsDocument(circuits)) }
                if circuits.isEmpty { return Terminal.printLine("No circuit is open.") }
                let rows = circuits.map { circuit in
                    [
                        "\(circuit.id)", circuit.scope.kind.rawValue, "\(circuit.scope.provider)", circuit.scope.app,
                        "\(circuit.scope.environment)",
                        circuit.scope.platform.map { "\($0)" } ?? "every", circuit.scope.topic ?? "every", circuit.cause,
                        "\(circuit.since)", "\(circuit.refusals)",
                        "\(circuit.nextProbeAt)", circuit.scope.credential,
                    ]
                }
                let header = [
                    "ID", "KIND", "PROVIDER", "APP", "ENVIRONMENT", "PLATFORM", "TOPIC", "CAUSE", "SINCE", "FAILED", "NEXT PROBE",
                    "CREDENTIAL",
                ]
                Terminal.printLine(TextTable(header, rows).text)
            }
        }
    }

    /// `pushwatch circuits close ID`
    struct Close: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Close a circuit now. If pushes still fail, it opens again."
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(
            help: "The circuit's id, as `pushwatch circuits list` shows it.",
            transform: CommandID.shown(by: "pushwatch circuits list")
        )
        var id: Int64
        @Option(help: "Who closes it.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the circuit's id.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                guard try await SendStore(pool: pool, record: { _, _ in }).closeCircuit(id, recording: AuditRecorder(by: author)) else {
                    throw CommandFailure.check("No open circuit has the id \(id).")
                }
                if json { return try Terminal.printLine(json: ["closed": id]) }
                Terminal.printLine("Circuit \(id) is closed.")
            }
        }
    }
}
