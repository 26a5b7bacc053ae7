package import ArgumentParser
import Foundation
import Server

/// The program's entry point: runs the command of the command line and ends the process with the project's exit codes.
package enum CommandProgram {
    package static let version = ServerConfiguration.currentVersion
    package static let exitCodes =
        "Exit codes: 0 success, 1 a check failed or nothing was found, 2 wrong usage or a wrong setting, 3 environment error (database, "
        + "schema, file, port, privilege or system limit), "
        + "130 interrupted by Ctrl-C."

    package static func run(_ root: (some AsyncParsableCommand).Type) async {
        let command = Task { try await perform(root) }
        Terminal.onOutputFailure { command.cancel() }
        let result = await command.result
        if case .failure(let error) = result { finish(error, of: root) }
        Terminal.endIfOutputFailed()
        Terminal.end(0)
    }

    private static func perform(_ root: (some AsyncParsableCommand).Type) async throws {
        var command = try root.parseAsRoot()
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }

    /// ArgumentParser exits with 64 on wrong usage, this project with 2. Every other error has its own code.
    private static func finish(_ error: any Error, of root: any ParsableCommand.Type) -> Never {
        Terminal.endIfOutputFailed()
        if let failure = CommandFailure(error) {
            if !failure.message.isEmpty { Terminal.printError(failure.message) }
            Terminal.end(failure.code)
        }
        let code = root.exitCode(for: error)
        let text = root.fullMessage(for: error)
        if code.isSuccess {
            if !text.isEmpty { Terminal.printLine(text) }
            Terminal.endIfOutputFailed()
            Terminal.end(0)
        }
        if !text.isEmpty { Terminal.printError(text) }
        Terminal.end(code == .validationFailure ? 2 : code.rawValue == 1 ? 1 : code.rawValue)
    }
}
