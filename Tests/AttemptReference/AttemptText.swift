package import PushContract

/// Texts of attempts, put together by hand: no encoder stands between a case and its bytes.
package enum AttemptText {
    package static let now = Timestamp(rfc3339: "2026-03-10T12:00:00Z")!
    package static let hash = "sha256:" + String(repeating: "0a", count: 32)

    /// The required fields, in the contract's order, as they stand in JSON.
    package static let required: [(key: String, value: String)] = [
        ("attemptId", #""a-1""#), ("uid", #""u-1""#), ("platform", #""ios""#), ("provider", #""apns""#), ("tokenHash", "\"\(hash)\""),
        ("eventType", #""send""#), ("status", #""sent""#), ("attemptedAt", #""2026-03-10T12:00:00Z""#), ("requestId", #""r-1""#),
    ]

    /// An attempt with some values replaced by others, in JSON's own spelling; those that are nil are left out, new ones stand last.
    package static func attempt(_ changes: [(String, String?)] = []) -> String {
        var fields: [(String, String)] = []
        for (key, value) in required {
            guard let change = changes.first(where: { $0.0 == key }) else {
                fields.append((key, value))
                continue
            }
            if let new = change.1 { fields.append((key, new)) }
        }
        for (key, value) in changes where !required.contains(where: { $0.key == key }) {
            if let value { fields.append((key, value)) }
        }
        return "{" + fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    package static func attempt(_ key: String, _ value: String?) -> String { attempt([(key, value)]) }

    /// An attempt whose `uid` holds these bytes, as they are.
    package static func attempt(uid bytes: [UInt8]) -> [UInt8] {
        let parts = attempt("uid", "\"HERE\"").split(separator: "HERE")
        return Array(parts[0].utf8) + bytes + Array(parts[1].utf8)
    }
}
