import CommandLineKit
import Foundation
import HTTPClient

/// The provider simulator in a process of its own, so that its processor time is measured separately.
struct BenchSimulator {
    /// The `PUSHWATCH_…` settings that point a server at it.
    let settings: [String: String]
    private let controlURL: String
    private let process: BenchProcess
    private let control: CurlClient

    var use: ProcessUse { process.use }
    var apnsURL: String { settings["PUSHWATCH_APNS_PRODUCTION_URL"] ?? "" }
    var caFile: String { settings["PUSHWATCH_PROVIDERS_CA_FILE"] ?? "" }

    /// - Parameter directory: where its certificate and keys go.
    init(directory: String) async throws {
        var client = CurlClientConfiguration()
        client.httpVersion = .http1
        control = CurlClient(configuration: client)
        process = try BenchProcess(arguments: ["simulate", "--directory", directory], isQuiet: true)
        let output = try await process.output(until: Self.isComplete)
        guard Self.isComplete(output) else { throw CommandFailure.environment("The provider simulator did not start.") }
        let words = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        let pairs = words.filter { $0.hasPrefix("PUSHWATCH_") }.map { $0.split(separator: "=", maxSplits: 1) }
        controlURL = words.firstIndex(of: "control").map { String(words[$0 + 1]) } ?? ""
        settings = Dictionary(pairs.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) }) { $1 }
    }

    /// Has the last line of what it says when it is ready.
    private static func isComplete(_ output: Data) -> Bool {
        let text = String(decoding: output, as: UTF8.self)
        return text.contains("PUSHWATCH_FCM_SERVICE_ACCOUNT_FILE=") && text.hasSuffix("\n")
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

    func stop() { process.stop() }
}
