import Foundation
import Logging
import ServiceKit

/// One log event, about to be printed. A message with line breaks is still one line, and in the formats that people read nothing in it
/// controls the terminal or reorders the line.
struct LogLine {
    var time: Date
    var level: Logger.Level
    var label: String
    var message: String
    var metadata: [(key: String, value: String)]

    func text(_ format: LogFormat) -> String {
        switch format {
        case .human: human
        case .logfmt: logfmt
        case .json: json
        }
    }

    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private var timestamp: String { time.formatted(Self.style) }

    private var human: String {
        let name = level.rawValue.uppercased().padding(toLength: 8, withPad: " ", startingAt: 0)
        let pairs = metadata.map { " \($0.key)=\(Self.quoted($0.value))" }.joined()
        return "\(timestamp.dropFirst(11).prefix(12)) \(name) \(Self.flat(message))\(pairs)"
    }

    private var logfmt: String {
        let fixed = [("time", timestamp), ("level", level.rawValue), ("logger", label), ("msg", message)]
        return (fixed + metadata.map { ($0.key, $0.value) }).map { "\($0.0)=\(Self.quoted($0.1))" }.joined(separator: " ")
    }

    private var json: String {
        var object = Dictionary(metadata.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
        object.merge(["time": timestamp, "level": level.rawValue, "logger": label, "msg": message]) { _, ours in ours }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(object)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// As it is if it is one word, else in quotes with escapes.
    private static func quoted(_ value: String) -> String {
        let value = value.visible
        let isWord = !value.isEmpty && value.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "=" }
        return isWord ? value : "\"\(flat(value).replacing("\"", with: "\\\""))\""
    }

    private static func flat(_ value: String) -> String {
        let value = value.visible
        guard value.unicodeScalars.contains(where: { $0.value < 0x20 || $0 == "\\" }) else { return value }
        return value.unicodeScalars.map { scalar in
            switch scalar {
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            case "\\": "\\\\"
            default: String(scalar)
            }
        }.joined()
    }
}
