import ArgumentParser

/// `pushwatch attempts …`
struct AttemptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attempts",
        abstract: "Bring delivery attempts in, and look at them.",
        subcommands: [AttemptsImportCommand.self, AttemptsTailCommand.self]
    )
}
