import Foundation
import PushContract

/// Values of mail headers (RFC 5322, 2047).
enum MailHeader {
    /// Free text: as it is when it is plain, else in encoded words. Line breaks become spaces, so that nothing adds a header.
    static func text(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        let isPlain = line.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value < 127 } && !line.contains("=?")
        return isPlain ? folded(line) : words(line).map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }

    static func address(_ address: MailAddress) -> String {
        guard let name = address.name else { return "<\(address.address)>" }
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value < 127 && $0 != "\\" && $0 != "\"" }
        return "\(isPlain ? "\"\(name)\"" : text(name)) <\(address.address)>"
    }

    /// `Mon, 05 Jan 2026 12:15:00 +0000`
    static func date(_ time: Timestamp) -> String {
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let text = time.rfc3339
        let date = text.prefix(10).split(separator: "-")
        let day = days[Int(((time.seconds / 86_400) % 7 + 7) % 7)]
        return "\(day), \(date[2]) \(months[(Int(date[1]) ?? 1) - 1]) \(date[0]) \(text.dropFirst(11).prefix(8)) +0000"
    }

    /// The characters that a message id may have.
    static func atom(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "-" })
    }

    /// Lines of at most 76 characters, broken at spaces.
    private static func folded(_ text: String) -> String {
        var lines = [""]
        for report in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(report)
            } else if last.count + report.count < 66 {
                lines[lines.count - 1] = "\(last) \(report)"
            } else {
                lines.append(String(report))
            }
        }
        return lines.joined(separator: "\r\n ")
    }

    /// Pieces of at most 45 bytes, so that an encoded word stays within 75 characters.
    private static func words(_ text: String) -> [String] {
        var words = [""]
        for character in text {
            if words[words.count - 1].utf8.count + character.utf8.count > 45 { words.append("") }
            words[words.count - 1].append(character)
        }
        return words
    }
}
