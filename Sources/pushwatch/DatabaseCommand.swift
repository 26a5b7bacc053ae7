import ArgumentParser
import CommandLineKit

/// `pushwatch database …`
struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database",
        abstract: "Show where the rows of the database are, and distribute them over several servers.",
        subcommands: [DatabaseStatusCommand.self, DatabaseDistributeCommand.self]
    )
}
