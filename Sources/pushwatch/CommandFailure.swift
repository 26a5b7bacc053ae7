import ArgumentParser
import Foundation

/// Why a command ends with something else than 0, in a sentence for a person.
struct CommandFailure: Error {
    var message: String
    /// 1 a check failed, 3 the surroundings are not there.
    var code: Int32

    static func environment(_ message: String) -> CommandFailure { CommandFailure(message: message, code: 3) }
    static func check(_ message: String) -> CommandFailure { CommandFailure(message: message, code: 1) }
}

func end(_ code: Int32) -> Never { Foundation.exit(code) }
