import ArgumentParser
import CommandLineKit

@main
struct Pushwatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushwatch",
        abstract: "Sends push notifications and watches whether they arrive.",
        discussion: """
            `pushwatch serve` runs the service against your PostgreSQL. Every other command works on the database or server that it is given \
            (--config, --database, --url, or PUSHWATCH_… in the environment), and otherwise on the local installation of the current \
            directory, which `pushwatch-dev up` keeps in .pushwatch.

            Durations are a whole number and a unit: 30s, 15m, 2h, 7d.
            \(CommandProgram.exitCodes)
            """,
        version: CommandProgram.version,
        groupedSubcommands: [
            CommandGroup(
                name: "Service",
                subcommands: [ServeCommand.self, StatusCommand.self, MigrateCommand.self, DatabaseCommand.self, FsckCommand.self]
            ),
            CommandGroup(
                name: "Access",
                subcommands: [KeysCommand.self, SessionsCommand.self, TokenKeysCommand.self, CredentialsCommand.self]
            ),
            CommandGroup(
                name: "Sending",
                subcommands: [
                    SendCommand.self, SendsCommand.self, QueuesCommand.self, ThrottlesCommand.self, CircuitsCommand.self,
                    LimitersCommand.self, DeadLettersCommand.self, AttemptsCommand.self,
                ]
            ),
            CommandGroup(
                name: "Alerting",
                subcommands: [
                    AlertsCommand.self, SilencesCommand.self, AcceptancesCommand.self, ExclusionsCommand.self, ReceiversCommand.self,
                    RulesCommand.self,
                ]
            ),
            CommandGroup(name: "Live Activities", subcommands: [FeedsCommand.self]),
        ]
    )

    static func main() async { await CommandProgram.run(Pushwatch.self) }
}
