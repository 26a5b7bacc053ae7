import Foundation

/// An exact ratio of two whole numbers, in lowest terms: thresholds are compared without rounding.
package struct Fraction: Sendable, Hashable, Codable {
    let numerator: Int64
    let denominator: Int64

    /// `denominator` must be above zero; `numerator` must not be negative.
    package init(_ numerator: Int64, _ denominator: Int64) {
        precondition(denominator > 0 && numerator >= 0, "a fraction is not negative")
        var (a, b) = (numerator, denominator)
        while b != 0 { (a, b) = (b, a % b) }
        let divisor = max(a, 1)
        self.numerator = numerator / divisor
        self.denominator = denominator / divisor
    }

    package var double: Double { Double(numerator) / Double(denominator) }

    package static func * (a: Fraction, b: Fraction) -> Fraction {
        Fraction(a.numerator * b.numerator, a.denominator * b.denominator)
    }

    /// Nil when the product does not fit.
    package func times(_ other: Fraction) -> Fraction? {
        let above = numerator.multipliedReportingOverflow(by: other.numerator)
        let below = denominator.multipliedReportingOverflow(by: other.denominator)
        return above.overflow || below.overflow ? nil : Fraction(above.partialValue, below.partialValue)
    }
}

extension Fraction: Comparable {
    package static func < (a: Fraction, b: Fraction) -> Bool {
        let left = a.numerator.multipliedFullWidth(by: b.denominator)
        let right = b.numerator.multipliedFullWidth(by: a.denominator)
        return (left.high, left.low) < (right.high, right.low)
    }
}

extension Fraction {
    /// Reads `5%`, `0.5 %`, `0.8` or `3/4`; nil for anything else, for a negative value and for more than six decimals.
    package init?(share text: String) {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        if trimmed.hasSuffix("%") {
            guard let number = Fraction(decimal: trimmed.dropLast().trimmingCharacters(in: .whitespaces)) else { return nil }
            self = number * Fraction(1, 100)
        } else if let slash = trimmed.firstIndex(of: "/") {
            guard let above = Fraction(decimal: String(trimmed[..<slash])), above.denominator == 1,
                let below = Fraction(decimal: String(trimmed[trimmed.index(after: slash)...])), below.denominator == 1, below.numerator > 0
            else { return nil }
            self = Fraction(above.numerator, below.numerator)
        } else {
            self.init(decimal: trimmed)
        }
    }

    /// Reads `3x` or `2.5x`: a multiple of something expected.
    package init?(multiple text: String) {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        guard let last = trimmed.last, "x×".contains(last) else { return nil }
        self.init(decimal: trimmed.dropLast().trimmingCharacters(in: .whitespaces))
    }

    /// Reads a plain decimal number such as `12` or `0.25`, up to nine digits before and six after the point.
    package init?(decimal text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }),
            parts[0].count <= 9, (parts.count == 1 || parts[1].count <= 6), let whole = Int64(parts.joined())
        else { return nil }
        let decimals = parts.count == 2 ? parts[1].count : 0
        self.init(whole, (0..<decimals).reduce(Int64(1)) { power, _ in power * 10 })
    }
}

extension Fraction {
    /// As a percentage for people: `5 %`, `0.42 %`.
    package var percent: String { Self.percent(double) }

    /// As a multiple for people: `3×`, `4.1×`.
    package var multiple: String { Self.rounded(double) + "×" }

    package static func percent(_ share: Double) -> String { rounded(share * 100) + " %" }

    /// Two decimals at most, without trailing zeros.
    package static func rounded(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        var text = String(format: "%.2f", value)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }
}
