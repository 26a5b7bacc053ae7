import Foundation

/// Finds the directories that are shipped with the program: below the current directory, or next to the executable.
package enum ProjectFiles {
    /// The path next to the program of a relative path that does not exist below the current directory; any other path unchanged.
    static func nextToProgram(_ path: String) -> String { path.hasPrefix("/") ? path : (try? locate(path)) ?? path }

    package static func locate(_ name: String) throws -> String {
        let here = FileManager.default.currentDirectoryPath + "/" + name
        if FileManager.default.fileExists(atPath: here) { return here }
        var directory = URL(fileURLWithPath: Bundle.main.executablePath ?? CommandLine.arguments[0]).resolvingSymlinksInPath()
        while directory.pathComponents.count > 1 {
            directory.deleteLastPathComponent()
            let candidate = directory.appendingPathComponent(name).path
            if FileManager.default.fileExists(atPath: candidate) { return candidate }
        }
        throw CommandFailure.environment(
            "`\(name)` was found neither in the current directory nor next to the program. Start the program in its project directory."
        )
    }
}
