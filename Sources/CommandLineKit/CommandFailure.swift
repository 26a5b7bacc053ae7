package import Logging

/// Why a command exits with a code other than 0, in one sentence.
package struct CommandFailure: Error {
    package let message: String
    package let code: Int32

    package init(message: String, code: Int32) {
        self.message = message
        self.code = code
    }

    /// 1: a check failed, or what the command names was not found.
    package static func check(_ message: String) -> CommandFailure { CommandFailure(message: message, code: 1) }
    /// 2: wrong usage, also of a setting or without one.
    package static func usage(_ message: String) -> CommandFailure { CommandFailure(message: message, code: 2) }
    /// 3: an environment error: a database, its schema, a file or a port is missing.
    package static func environment(_ message: String) -> CommandFailure { CommandFailure(message: message, code: 3) }
}

extension CommandFailure {
    /// Logs it where the log is JSON, whose readers parse every line, and then is without a message; otherwise itself.
    package func logged(format: String, _ logger: Logger) -> CommandFailure {
        guard format == "json" else { return self }
        logger.critical("\(message)")
        return CommandFailure(message: "", code: code)
    }
}
