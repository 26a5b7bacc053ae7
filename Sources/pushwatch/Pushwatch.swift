import ArgumentParser
import Foundation
import NIOCore

@main
struct Pushwatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushwatch",
        abstract: "Sends push notifications and watches whether they arrive.",
        discussion: """
            `pushwatch up` starts everything on this machine, with a database of its own, a provider simulator and demo traffic. \
            `pushwatch serve` runs the service against your PostgreSQL.

            Exit codes: 0 fine, 1 a check failed, 2 wrong usage, 3 the surroundings are not there (database, file, port).
            """,
        version: "0.1.0",
        subcommands: [
            UpCommand.self,
            ServeCommand.self,
            MigrateCommand.self,
            KeysCommand.self,
            AttemptsCommand.self,
            SendCommand.self,
            SendsCommand.self,
            CredentialsCommand.self,
            RulesCommand.self,
            AlertsCommand.self,
            ReplayCommand.self,
            SimulateCommand.self,
            FsckCommand.self,
            BenchCommand.self,
        ]
    )

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            finish(error)
        }
    }

    /// ArgumentParser ends with 64 on wrong usage; ours is 2. Everything else carries its own code.
    private static func finish(_ error: any Error) -> Never {
        if let failure = error as? CommandFailure {
            Terminal.printError(failure.message)
            end(failure.code)
        }
        if let failure = error as? IOError, failure.errnoCode == EADDRINUSE {
            Terminal.printError("The port is taken by another program. Choose another: --port for `up`, PUSHWATCH_HTTP_PORT for `serve`.")
            end(3)
        }
        let code = exitCode(for: error)
        let text = fullMessage(for: error)
        if code.isSuccess {
            if !text.isEmpty { print(text) }
            end(0)
        }
        if !text.isEmpty { Terminal.printError(text) }
        end(code == .validationFailure ? 2 : code.rawValue == 1 ? 1 : code.rawValue)
    }
}
