import Foundation

/// Finds the directories that are shipped beside the binary: below the current directory, or above the executable.
enum ProjectFiles {
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
