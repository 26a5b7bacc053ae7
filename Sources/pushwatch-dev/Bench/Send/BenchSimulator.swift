import CommandLineKit
import Foundation
import HTTPClient

/// The provider simulator in a process of its own, so that its processor time is measured separately.
final class BenchSimulator {
    /// The `PUSHWATCH_…` settings that point a server at it.
    let settings: [String: String]
    private let controlURL: String
    private let process = Process()
    private let control: CurlClient

    var use: ProcessUse { ProcessUse(pid: process.processIdentifier) }
    var apnsURL: String { settings["PUSHWATCH_APNS_PRODUCTION_URL"] ?? "" }
    var caFile: String { settings["PUSHWATCH_PROVIDERS_CA_FILE"] ?? "" }

    /// - Parameter directory: where its certificate and keys go.
    init(directory: String) throws {
        var client = CurlClientConfiguration()
        client.httpVersion = .http1
        control = CurlClient(configuration: client)
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: Bundle.main.executablePath ?? CommandLine.arguments[0])
        process.arguments = ["simulate", "--directory", directory]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        // The last line of what it says when it is ready.
        while !text.contains("PUSHWATCH_FCM_SERVICE_ACCOUNT_FILE=") || !text.hasSuffix("\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw CommandFailure.environment("The provider simulator did not start.") }
            text += String(decoding: data, as: UTF8.self)
        }
        let pairs = text.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("PUSHWATCH_") }.map {
            $0.split(separator: "=", maxSplits: 1)
        }
        let words = text.split(whereSeparator: \.isWhitespace)
        controlURL = words.firstIndex(of: "control").map { String(words[$0 + 1]) } ?? ""
        settings = Dictionary(pairs.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) }) { $1 }
    }

    /// - Parameter rules: as `PUT /faults` takes them.
    func setFaults(_ rules: String) async throws {
        let request = OutboundRequest(
            method: "PUT",
            url: controlURL + "/faults",
            headers: [("content-type", "application/json")],
            body: Array(rules.utf8),
            timeout: .seconds(10)
        )
        let answer = try await control.send(request)
        guard answer.status < 300 else {
            throw CommandFailure.check("PUT /faults was answered with \(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
        }
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}
