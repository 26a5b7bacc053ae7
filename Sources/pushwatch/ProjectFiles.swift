import Foundation

/// Finds the directories that are shipped beside the binary: below the current directory, or above the executable.
enum ProjectFiles {
    /// A relative path that is not below the current directory, but beside the program; any other path stays as it is.
    static func nextToProgram(_ path: String) -> String { path.hasPrefix("/") ? path : (try? locate(path)) ?? path }

    static func locate(_ name: String) throws -> String {
        let here = FileManager.default.currentDirectoryPath + "/" + name
        if FileManager.default.fileExists(atPath: here) { return here }
        var directory = URL(fileURLWithPath: Bundle.main.executablePath ?? CommandLine.arguments[0]).resolvingSymlinksInPath()
        while directory.pathComponents.count > 1 {
            directory.deleteLastPathComponent()
            let candidate = directory.appendingPathComponent(name).path
            if FileManager.default.fileExists(atPath: candidate) { return candidate }
        }
        throw CommandFailure.environment("`\(name)` is neither here nor beside the program. Start Pushwatch in its project directory.")
    }
}
