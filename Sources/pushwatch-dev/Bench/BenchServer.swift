import CommandLineKit
import Foundation
import PushContract

/// The server under measurement, in a process of its own.
struct BenchServer {
    let port: Int
    let key: String
    private let process: BenchProcess

    var use: ProcessUse { process.use }

    /// - Parameters:
    ///   - arguments: further ones of `bench serve`.
    ///   - environment: further settings of the service.
    init(database: String, arguments: [String] = [], environment: [String: String] = [:]) async throws {
        key = UUID().uuidString
        process = try BenchProcess(
            arguments: ["bench", "serve", "--database", database, "--key", key] + arguments,
            environment: environment
        )
        let text = String(decoding: try await process.output { $0.contains(UInt8(ascii: "\n")) }, as: UTF8.self)
        guard text.contains("\n") else { throw CommandFailure.environment("The server under measurement did not start.") }
        guard let port = text.prefix(while: { !$0.isNewline }).split(separator: ":").last.flatMap({ Int($0) }) else {
            throw CommandFailure.environment("The server under measurement said `\(text)` instead of its URL.")
        }
        self.port = port
        try await waitUntilReady()
    }

    func stop() { process.stop() }

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
