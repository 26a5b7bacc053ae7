import ArgumentParser

/// Ids on the command line that are numbers, as another command lists them.
package enum CommandID {
    /// The transform of an argument that takes an id which `command` shows.
    package static func shown(by command: String) -> @Sendable (String) throws -> Int64 {
        { text in
            guard let id = Int64(text) else { throw ValidationError("it is not a whole number; `\(command)` shows the ids") }
            return id
        }
    }
}
