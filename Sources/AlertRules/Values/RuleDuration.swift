/// A length of time in whole minutes, written `15m`, `2h`, `1h30m`, `7d`.
package struct RuleDuration: Sendable, Hashable, Comparable, Codable {
    package let minutes: Int

    package init(minutes: Int) { self.minutes = minutes }

    /// Nil when the text is not a duration in minutes, hours, days and weeks, is zero, or is longer than a year.
    package init?(_ text: String) {
        var total = 0
        var digits = ""
        for character in text {
            if character.isASCII, character.isNumber {
                digits.append(character)
                continue
            }
            guard let unit = Self.units[character], let count = Int(digits), count <= 600_000 else { return nil }
            total += count * unit
            digits = ""
        }
        guard digits.isEmpty, total > 0, total <= 527_040 else { return nil }
        minutes = total
    }

    package static func < (a: RuleDuration, b: RuleDuration) -> Bool { a.minutes < b.minutes }

    private static let units: [Character: Int] = ["m": 1, "h": 60, "d": 1440, "w": 10_080]
}

extension RuleDuration: CustomStringConvertible {
    package var description: String {
        let parts = [(minutes / 1440, "d"), (minutes % 1440 / 60, "h"), (minutes % 60, "m")]
        let text = parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
        return text.isEmpty ? "0m" : text
    }
}
