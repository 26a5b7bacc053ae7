import Foundation
import HTTPClient
import Testing

/// Compares with a file of Tests/Golden; `PUSHWATCH_REWRITE_GOLDEN=1` writes the files anew.
enum Golden {
    static func expect(_ text: String, _ name: String, _ location: SourceLocation = #_sourceLocation) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appendingPathComponent("Golden/\(name)")
        if ProcessInfo.processInfo.environment["PUSHWATCH_REWRITE_GOLDEN"] != nil {
            try Data(text.utf8).write(to: file)
        }
        let wanted = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(wanted == text, sourceLocation: location)
    }

    static func expect(mail: OutboundMail, _ name: String, _ location: SourceLocation = #_sourceLocation) throws {
        let headers = mail.headers.map { "\($0.name): \($0.value.replacing("\r\n", with: "\n"))\n" }.joined()
        try expect("\(headers)\n\(mail.text)\n\n\(mail.html)\n", name, location)
    }

    static func expect(json: [UInt8], _ name: String, _ location: SourceLocation = #_sourceLocation) throws {
        let object = try JSONSerialization.jsonObject(with: Data(json))
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try expect(
            String(decoding: try JSONSerialization.data(withJSONObject: object, options: options), as: UTF8.self) + "\n",
            name,
            location
        )
    }
}
