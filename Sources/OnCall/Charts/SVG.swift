import Alerting

/// SVG text. Every attribute value and every text is escaped, so nothing that is drawn can become markup.
enum SVG {
    static func element(_ name: String, _ attributes: [(String, String)], _ children: String? = nil) -> String {
        let list = attributes.map { " \($0.0)=\"\($0.1.htmlEscaped)\"" }.joined()
        return children.map { "<\(name)\(list)>\($0)</\(name)>" } ?? "<\(name)\(list)/>"
    }

    static func text(_ text: String, _ attributes: [(String, String)]) -> String {
        element("text", attributes, text.htmlEscaped)
    }

    /// At most two decimals, never an exponent; what is no number is 0.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        let hundredths = Int64((value * 100).rounded())
        let (whole, rest) = (hundredths.magnitude / 100, hundredths.magnitude % 100)
        let sign = hundredths < 0 ? "-" : ""
        if rest == 0 { return "\(sign)\(whole)" }
        return rest.isMultiple(of: 10) ? "\(sign)\(whole).\(rest / 10)" : "\(sign)\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }

    static func percent(_ value: Double) -> String { number(value) + "%" }
}
