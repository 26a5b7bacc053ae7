/// Names as Prometheus wants them: `snake_case` of letters, digits and underscores, not starting with a digit.
enum MetricName {
    static func sanitized(_ label: String) -> String {
        var name = ""
        var previousIsLower = false
        for character in label.unicodeScalars {
            switch character {
            case "A"..."Z":
                if previousIsLower { name.append("_") }
                name.unicodeScalars.append(Unicode.Scalar(character.value + 32)!)
                previousIsLower = false
            case "a"..."z", "0"..."9":
                if name.isEmpty, ("0"..."9").contains(character) { name.append("_") }
                name.unicodeScalars.append(character)
                previousIsLower = true
            default:
                if name.last != "_" { name.append("_") }
                previousIsLower = false
            }
        }
        return name.isEmpty ? "_" : name
    }

    static func adding(_ suffix: String, to name: String) -> String {
        name.hasSuffix(suffix) ? name : name + suffix
    }

    /// A label name; `le` belongs to histograms, and two leading underscores to Prometheus itself.
    static func sanitizedLabel(_ label: String) -> String {
        var name = sanitized(label)
        while name.hasPrefix("__") { name.removeFirst() }
        return name == "le" || name == "quantile" ? "exported_" + name : name
    }
}
