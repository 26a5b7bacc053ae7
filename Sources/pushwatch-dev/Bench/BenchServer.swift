import CommandLineKit
import Foundation
import PushContract

/// The server under measurement, in a process of its own.
final class BenchServer {
    let port: Int
    let key = UUID().uuidString
    private let process = Process()
    private let input = Pipe()

    var use: ProcessUse { ProcessUse(pid: process.processIdentifier) }

    /// - Parameters:
    ///   - arguments: further ones of `bench serve`.
    ///   - environment: further settings of the service.
    init(database: String, arguments: [String] = [], environment: [String: String] = [:]) async throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: Bundle.main.executablePath ?? CommandLine.arguments[0])
        process.arguments = ["bench", "serve", "--database", database, "--key", key] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var text = ""
        while !text.contains("\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw CommandFailure.environment("The server under measurement did not start.") }
            text += String(decoding: data, as: UTF8.self)
        }
        guard let port = text.prefix(while: { !$0.isNewline }).split(separator: ":").last.flatMap({ Int($0) }) else {
            throw CommandFailure.environment("The server under measurement said `\(text)` instead of its URL.")
        }
        self.port = port
        try await waitUntilReady()
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    private func waitUntilReady() async throws {
        for _ in 0..<300 {
            if isReady { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw CommandFailure.environment("The server under measurement did not become ready within 30 s.")
    }

    private var isReady: Bool {
        let body = BenchBody(rows: 1, isSingle: true, path: BenchServeCommand.noOpPath, host: "127.0.0.1", key: key, seed: 1)
        guard let connection = try? LoadConnection(port: port, body: body) else { return false }
        guard (try? connection.send(at: Timestamp.now().benchText)) != nil else { return false }
        return (try? connection.receive())?.status == 201
    }
}
