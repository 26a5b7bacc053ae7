import AlertRules

/// Numbers as people read them.
enum NumberText {
    /// `12,480`
    static func count(_ value: some BinaryInteger) -> String {
        let digits = Array(String(Int64(value).magnitude))
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// `0.6 %`; a dash where there was nothing to take a share of.
    static func share(_ part: Int64, of whole: Int64) -> String {
        whole > 0 ? Fraction.percent(Double(part) / Double(whole)) : "–"
    }

    /// A share of 0–1 as `6.3 %`.
    static func percent(_ share: Double) -> String { Fraction.percent(share) }

    /// A rate a minute: whole numbers from 10 on, one decimal below.
    static func rate(_ perMinute: Double) -> String {
        guard perMinute.isFinite else { return "–" }
        if perMinute >= 10 { return count(Int64(min(perMinute, 1e15).rounded())) }
        return Fraction.rounded((perMinute * 10).rounded() / 10)
    }

    /// For axes, where space is short: `950`, `1.2k`, `3M`.
    static func short(_ value: Double) -> String {
        switch value {
        case 1_000_000...: Fraction.rounded(value / 1_000_000) + "M"
        case 1_000...: Fraction.rounded(value / 1_000) + "k"
        default: Fraction.rounded(value)
        }
    }
}
