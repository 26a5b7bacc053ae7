/// The labels of one series, ready to be printed: `route="/",status="2xx"`, sorted by name.
struct LabelSet: Hashable, Comparable, Sendable {
    let text: String

    init(_ dimensions: [(String, String)]) {
        let byName = Dictionary(dimensions.map { (MetricName.sanitizedLabel($0.0), $0.1) }, uniquingKeysWith: { _, last in last })
        text = byName.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    }

    static func < (a: LabelSet, b: LabelSet) -> Bool { a.text < b.text }

    /// With braces, with one more label at the end; nothing at all when there are no labels.
    func braced(adding extra: String? = nil) -> String {
        let parts = [text, extra ?? ""].filter { !$0.isEmpty }
        return parts.isEmpty ? "" : "{\(parts.joined(separator: ","))}"
    }

    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
