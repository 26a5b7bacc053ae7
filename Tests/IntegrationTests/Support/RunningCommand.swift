import Foundation
import Synchronization
import TestSupport

/// A command as a process of its own, with what it has printed so far.
final class RunningCommand: Sendable {
    private final class Output: Sendable {
        let text = Mutex("")
    }

    private let process: Process
    private let output: Output

    /// `settings` are environment names without `PUSHWATCH_`. Both streams are gathered as one text. Without `input` it reads the standard
    /// input of this process.
    init(
        _ arguments: [String],
        of program: String = ServerProcess.binary,
        settings: [String: String] = [:],
        temporaryDirectory: String = NSTemporaryDirectory(),
        input: Pipe? = nil
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: ProjectDirectory.root)
        var environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "TMPDIR": temporaryDirectory]
        for (name, value) in settings { environment["PUSHWATCH_" + name] = value }
        process.environment = environment
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = pipe
        if let input { process.standardInput = input }
        let output = Output()
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            output.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
        try process.run()
        self.process = process
        self.output = output
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    var text: String { output.text.withLock { $0 } }
    var isRunning: Bool { process.isRunning }

    /// Ctrl-C, or another signal. The exit code.
    func interrupt(by signal: Int32 = SIGINT) async throws -> Int32 {
        Foundation.kill(process.processIdentifier, signal)
        return try await ended()
    }

    /// Waits for its end. The exit code.
    func ended() async throws -> Int32 {
        try await eventually("the command ended") { !process.isRunning }
        return process.terminationStatus
    }
}
