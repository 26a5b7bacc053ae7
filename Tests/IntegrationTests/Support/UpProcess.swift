import Foundation
import Synchronization
import TestSupport

/// `pushwatch-dev up --empty`, as a newcomer starts it, in a directory of a test's own.
final class UpProcess: Sendable {
    let directory: String
    /// Everything that it printed until it was ready.
    let greeting: String
    private let process: Process

    /// The state is in `directory`/.pushwatch, as when it is started there.
    static func start(in directory: String) async throws -> UpProcess {
        let log = directory + "/up.log"
        try Data().write(to: URL(fileURLWithPath: log))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: ServerProcess.devBinary)
        process.arguments = ["up", "--empty", "--port", "0", "--state", directory + "/.pushwatch"]
        process.currentDirectoryURL = URL(fileURLWithPath: ProjectDirectory.root)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        process.standardOutput = file
        process.standardError = file
        try process.run()
        do {
            let greeting = try await eventually("pushwatch-dev up is ready", within: .seconds(180)) { () -> String? in
                let said = try String(contentsOfFile: log, encoding: .utf8)
                if !process.isRunning { throw NeverHappened(description: "pushwatch-dev up ended: \(said)") }
                return said.contains("Ctrl-C stops everything") ? said : nil
            }
            return UpProcess(directory, greeting, process)
        } catch {
            kill(process.processIdentifier, SIGKILL)
            throw error
        }
    }

    private init(_ directory: String, _ greeting: String, _ process: Process) {
        self.directory = directory
        self.greeting = greeting
        self.process = process
    }

    /// The value that follows a word of the greeting.
    func value(_ pattern: Regex<(Substring, Substring)>) throws -> String {
        guard let match = greeting.firstMatch(of: pattern) else {
            throw NeverHappened(description: "not printed by pushwatch-dev up: \(greeting)")
        }
        return String(match.1)
    }

    /// Everything that it has printed.
    func log() throws -> String { try String(contentsOfFile: directory + "/up.log", encoding: .utf8) }

    /// Ctrl-C, and the exit code.
    func stop() async throws -> Int32 {
        kill(process.processIdentifier, SIGINT)
        try await eventually("pushwatch-dev up ended") { !process.isRunning }
        return process.terminationStatus
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
