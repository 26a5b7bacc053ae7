import ArgumentParser
import CommandLineKit

@main
struct PushwatchDev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushwatch-dev",
        abstract: "Tries out, simulates and measures Pushwatch on this machine.",
        discussion: """
            `pushwatch-dev up` starts everything: the service with a database of its own, a provider simulator and demo traffic. It keeps all \
            of it in .pushwatch, where the commands of `pushwatch` find it.

            Durations are a whole number and a unit: 30s, 15m, 2h, 7d.
            \(CommandProgram.exitCodes)
            """,
        version: CommandProgram.version,
        subcommands: [UpCommand.self, ReplayCommand.self, SimulateCommand.self, ScenariosCommand.self, BenchCommand.self]
    )

    static func main() async { await CommandProgram.run(PushwatchDev.self) }
}
