import ArgumentParser
import CommandLineKit

/// `pushwatch attempts …`
struct AttemptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attempts",
        abstract: "Import delivery attempts, and watch them.",
        subcommands: [AttemptsImportCommand.self, AttemptsTailCommand.self]
    )
}
