import ArgumentParser
import CommandLineKit
import Delivery
import PushContract

/// `pushwatch status`
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "List the running instances, and what they differ in.",
        discussion: """
            Each instance reports its version, start, roles, clock, credentials and keys of push tokens every ten seconds, and its end. A \
            credential is named by its key id and some digits that change with the key. Exits with 1 if no instance runs, if their versions \
            differ, or if the credentials or keys of instances that push differ.
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print JSON.") var json = false

    private struct Document: Encodable {
        var instances: [Instance]
        var differences: [InstanceDifference]
    }

    func run() async throws {
        try await options.withPool { pool, _ in
            let instances = try await InstanceStore(pool: pool).running()
            let differences = InstanceDifference.all(of: instances)
            if json {
                try Terminal.printLine(json: Document(instances: instances, differences: differences))
            } else {
                show(instances)
                for difference in differences { Terminal.printLine("DIFFERENT: \(difference.summary)") }
            }
            if instances.isEmpty || !differences.isEmpty { throw ExitCode(1) }
        }
    }

    private func show(_ instances: [Instance]) {
        guard !instances.isEmpty else { return Terminal.printLine("No instance has reported in the last 30 seconds.") }
        let rows = instances.map { instance in
            [
                instance.name, instance.version, "\(instance.startedAt)", "\(instance.seenAt)", instance.roles.joined(separator: ","),
                instance.clockText,
            ]
        }
        Terminal.printLine(TextTable(["INSTANCE", "VERSION", "STARTED", "SEEN", "ROLES", "CLOCK"], rows).text)
        let credentials = instances.flatMap { instance in
            instance.credentials.map { credential in
                [
                    instance.name, "\(credential.provider)", credential.id, credential.acceptedAt.map { "\($0)" } ?? "–",
                    credential.fault ?? "in use",
                ]
            }
        }
        guard !credentials.isEmpty else { return }
        Terminal.printLine("\n" + TextTable(["INSTANCE", "PROVIDER", "CREDENTIAL", "LAST ACCEPTED", "STATE"], credentials).text)
    }
}
