import ArgumentParser

/// A length of time on the command line: a whole number and its unit, `30s`, `15m`, `2h` or `7d`.
package struct CommandDuration: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }

    package static func seconds(_ count: Int64) -> CommandDuration { CommandDuration(seconds: count) }
    package static func minutes(_ count: Int64) -> CommandDuration { CommandDuration(seconds: count * 60) }
    package static func hours(_ count: Int64) -> CommandDuration { CommandDuration(seconds: count * 3600) }
    package static func days(_ count: Int64) -> CommandDuration { CommandDuration(seconds: count * 86_400) }

    package static func < (first: CommandDuration, second: CommandDuration) -> Bool { first.seconds < second.seconds }

    package var duration: Duration { .seconds(seconds) }
    /// Rounded up.
    package var days: Int64 { (seconds + 86_399) / 86_400 }

    /// In the largest unit that divides it.
    package var description: String {
        for (unit, length) in CommandDuration.units.reversed() where seconds != 0 && seconds % length == 0 {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }

    private static let units: [(Character, Int64)] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]

    /// The transform of an option that takes a duration in `range`.
    package static func within(_ range: ClosedRange<CommandDuration>) -> @Sendable (String) throws -> CommandDuration {
        { text in
            let duration = try CommandDuration(parsing: text)
            guard range.contains(duration) else {
                throw ValidationError("it must be from \(range.lowerBound) to \(range.upperBound)")
            }
            return duration
        }
    }

    package init(parsing text: String) throws {
        guard let last = text.last, let length = CommandDuration.units.first(where: { $0.0 == last })?.1 else {
            let hasNumber = !text.isEmpty && text.allSatisfy(\.isASCIIDigit)
            throw ValidationError(
                hasNumber
                    ? "\"\(text)\" has no unit; write \(text)s, \(text)m, \(text)h or \(text)d"
                    : "\"\(text)\" is not a duration; write a whole number and its unit, such as 30s, 15m, 2h or 7d"
            )
        }
        let digits = text.dropLast()
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit), let count = Int64(digits), count <= 3_650 * 86_400 / length else {
            throw ValidationError("\"\(text)\" is not a duration; write a whole number and its unit, such as 30s, 15m, 2h or 7d")
        }
        seconds = count * length
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
