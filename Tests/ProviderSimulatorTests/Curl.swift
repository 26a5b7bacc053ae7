import Foundation
import ServiceKit
import Subprocess

/// The curl program: an HTTP/2 client nobody here wrote.
struct Curl {
    var caFile: String?

    struct Answer: Sendable {
        /// 0: no answer.
        var status: Int
        /// `2`, `1.1`.
        var version: String
        var headers: [String: String]
        var body: String
        /// curl's exit status; 0: an answer came.
        var exit: Int

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
        }
    }

    /// One exchange, or several when the URL has a range (`[1-9]`); then the last answer.
    func callAsFunction(
        _ method: String,
        _ url: String,
        headers: [String: String] = [:],
        body: String? = nil,
        extra: [String] = []
    ) async throws -> Answer {
        var arguments = ["-sS", "-i", "-X", method, "--max-time", "20"] + extra
        if let caFile { arguments += ["--cacert", caFile] }
        for (name, value) in headers { arguments += ["-H", "\(name): \(value)"] }
        if let body { arguments += ["--data-binary", body] }
        let run = try await run(
            .name("curl"),
            arguments: Arguments(arguments + [url]),
            output: .string(limit: 8 << 20),
            error: .string(limit: 1 << 16)
        )
        let exit = if case .exited(let code) = run.terminationStatus { Int(code) } else { -1 }
        return Self.parse(run.standardOutput, exit: exit)
    }

    private static func parse(_ text: String, exit: Int) -> Answer {
        let normal = text.replacing("\r\n", with: "\n")
        guard let start = normal.ranges(of: "HTTP/").last?.lowerBound, let end = normal[start...].firstRange(of: "\n\n") else {
            return Answer(status: 0, version: "", headers: [:], body: "", exit: exit)
        }
        let lines = normal[start..<end.lowerBound].split(separator: "\n")
        let first = lines[0].split(separator: " ")
        let headers = lines.dropFirst().compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
        return Answer(
            status: Int(first[1]) ?? 0,
            version: String(first[0].dropFirst(5)),
            headers: Dictionary(headers, uniquingKeysWith: { $1 }),
            body: String(normal[end.upperBound...]),
            exit: exit
        )
    }
}
