import Foundation

/// A program that runs to its end.
enum Shell {
    struct Done: Sendable {
        var code: Int32
        /// What it printed, errors among it.
        var output: String
    }

    /// - Parameter environment: beside the test's own.
    static func run(
        _ program: String,
        _ arguments: [String],
        in directory: String? = nil,
        environment: [String: String] = [:]
    ) async throws -> Done {
        try await withCheckedThrowingContinuation { continuation in
            // Reading to the end blocks, which the threads of the concurrency pool must not.
            DispatchQueue.global().async {
                continuation.resume(with: Result { try runBlocking(program, arguments, in: directory, environment: environment) })
            }
        }
    }

    private static func runBlocking(
        _ program: String,
        _ arguments: [String],
        in directory: String?,
        environment: [String: String]
    ) throws -> Done {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
        // What steers the tests is no setting of the programs, which refuse it.
        let own = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PUSHWATCH_TEST_") }
        process.environment = own.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let said = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Done(code: process.terminationStatus, output: String(decoding: said, as: UTF8.self))
    }
}
