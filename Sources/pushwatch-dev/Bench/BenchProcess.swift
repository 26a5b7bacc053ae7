import Foundation

/// A program that a bench runs. Its standard input ends with this process. Nothing of it stays behind after an error or an interruption: it
/// is killed when the task that waits for its output is cancelled, and when nothing refers to it any more.
final class BenchProcess: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    var use: ProcessUse { ProcessUse(pid: process.processIdentifier) }

    /// - Parameters:
    ///   - program: by default this one.
    ///   - environment: in addition to that of this process.
    ///   - isQuiet: what it writes to standard error is dropped.
    init(
        _ program: String = Bundle.main.executablePath ?? CommandLine.arguments[0],
        arguments: [String],
        environment: [String: String] = [:],
        isQuiet: Bool = false
    ) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        if isQuiet { process.standardError = FileHandle.nullDevice }
        try process.run()
    }

    deinit {
        guard process.isRunning else { return }
        kill()
        process.waitUntilExit()
    }

    /// What it has written to standard output once that is enough, or once it has closed it.
    func output(until isEnough: @escaping @Sendable (Data) -> Bool = { _ in false }) async throws -> Data {
        let data = await withTaskCancellationHandler {
            await BenchThread.run { [output] _ in
                var data = Data()
                while !isEnough(data) {
                    let more = output.fileHandleForReading.availableData
                    if more.isEmpty { break }
                    data += more
                }
                return data
            }
        } onCancel: {
            kill()
        }
        try Task.checkCancellation()
        return data
    }

    /// Waits for its end. The exit status.
    func ended() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Ends it: as a service is stopped, but at once where the bench was interrupted.
    func stop() {
        guard process.isRunning else { return }
        if Task.isCancelled { kill() } else { process.terminate() }
        process.waitUntilExit()
    }

    private func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    }
}
