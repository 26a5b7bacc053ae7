import Foundation
import HTTPServer
import Hummingbird

/// Reads `application/x-www-form-urlencoded`, as forms send it.
enum FormBody {
    private static let reader = BodyReader(limits: BodyLimits(compressed: 8 * 1_024, inflated: 8 * 1_024))

    static func read(_ request: Request) async throws -> [String: String] {
        _ = try request.requireContentType("application/x-www-form-urlencoded")
        let fields = fields(String(decoding: try await reader.read(request), as: UTF8.self))
        guard !fields.values.contains(where: { $0.unicodeScalars.contains("\0") }) else {
            throw Problem.badRequest("A field of the form has the character U+0000, which no value here can have.")
        }
        return fields
    }

    /// The first value of a name counts.
    static func fields(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(parts[0]), let value = decode(parts.count > 1 ? parts[1] : "") else { continue }
            if fields[name] == nil { fields[name] = value }
        }
        return fields
    }

    private static func decode(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }
}
