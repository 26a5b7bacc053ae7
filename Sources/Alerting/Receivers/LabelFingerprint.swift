/// The identity of a set of labels, as in Prometheus and Alertmanager.
enum LabelFingerprint {
    /// FNV-1a over names and values in the order of the names, each followed by 0xff; 16 hex digits.
    static func hex(_ labels: [String: String]) -> String {
        var hash: UInt64 = 14_695_981_039_346_656_037
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        for (name, value) in sorted(labels) {
            for part in [name, value] {
                part.utf8.forEach(add)
                add(0xff)
            }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// `{alertname="X", provider="fcm"}`
    static func text(_ labels: [String: String]) -> String {
        "{" + sorted(labels).map { "\($0)=\(quoted($1))" }.joined(separator: ", ") + "}"
    }

    private static func sorted(_ labels: [String: String]) -> [(String, String)] {
        labels.map { ($0.key, $0.value) }.sorted { Array($0.0.utf8).lexicographicallyPrecedes(Array($1.0.utf8)) }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }
}
