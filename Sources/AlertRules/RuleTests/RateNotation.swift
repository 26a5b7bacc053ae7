import Foundation

/// Counts in words: `100/1x60 100/6%x30 _x10` is an hour of 100 attempts a minute with one bad, half an hour with six
/// per cent bad, and ten minutes without attempts.
///
/// Rates may have decimals (`50/0.15x7d`); they are spread evenly and exactly over whole minutes.
enum RateNotation {
    struct Fault: Error {
        let message: String
    }

    private static let longest = 60 * 1440
    private static let maxPerMinute = Fraction(1_000_000, 1)

    static func counts(_ text: String) throws(Fault) -> [AttemptCounts] {
        var result: [AttemptCounts] = []
        for item in text.split(whereSeparator: { " ,\n\t".contains($0) }) {
            result += try run(String(item), remaining: longest - result.count)
        }
        guard !result.isEmpty else { throw Fault(message: "no counts; write them as in '100/1x60 100/6x30 _x10'") }
        return result
    }

    private static func run(_ item: String, remaining: Int) throws(Fault) -> [AttemptCounts] {
        let parts = item.split(separator: "x", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let minutes = parts.count == 1 ? 1 : length(parts[1]), minutes > 0 else {
            throw Fault(message: "'\(item)' is not attempts/bad with a length, such as 100/6x30 or 100/6%x2h")
        }
        guard minutes <= remaining else { throw Fault(message: "'\(item)' makes the test longer than 60d") }
        if parts[0] == "_" { return Array(repeating: AttemptCounts(), count: minutes) }
        let rates = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let attempts = rates.first.flatMap({ Fraction(decimal: $0) }),
            let bad = rates.count == 1 ? Fraction(0, 1) : rate(rates[1], of: attempts)
        else { throw Fault(message: "'\(parts[0])' is not attempts or attempts/bad") }
        guard attempts <= maxPerMinute, max(attempts.numerator, bad.numerator) <= 1_000_000_000_000 else {
            throw Fault(message: "'\(item)' is more than a million attempts a minute, or too many decimals")
        }
        guard bad <= attempts else { throw Fault(message: "'\(item)' has more bad attempts than attempts") }
        return (0..<Int64(minutes)).map { minute in
            let whole = share(attempts, minute)
            return AttemptCounts(attempts: whole, bad: min(whole, share(bad, minute)))
        }
    }

    private static func length(_ text: String) -> Int? {
        text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : RuleDuration(text)?.minutes
    }

    private static func rate(_ text: String, of attempts: Fraction) -> Fraction? {
        if text.hasSuffix("%") { return Fraction(share: text)?.times(attempts) }
        return Fraction(decimal: text)
    }

    /// The count of one minute of a rate: whole numbers whose sum differs from the rate by less than one.
    private static func share(_ rate: Fraction, _ minute: Int64) -> Int64 {
        (minute + 1) * rate.numerator / rate.denominator - minute * rate.numerator / rate.denominator
    }
}
