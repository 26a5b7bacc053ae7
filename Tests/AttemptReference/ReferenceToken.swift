import PushContract

/// What may be a token in a text, by the contract's words: 64 or more hex digits in a row, or 100 or more letters, digits, `-`, `_` and
/// `:` in a row.
enum ReferenceToken {
    private static let hexDigits = Set("0123456789abcdefABCDEF".unicodeScalars)
    private static let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_:".unicodeScalars)

    static func runs(in text: String) -> [String] {
        guard text.utf8.count >= 64 else { return [] }
        let scalars = Array(text.unicodeScalars)
        return runs(in: scalars, of: hexDigits, atLeast: 64) + runs(in: scalars, of: letters, atLeast: 100)
    }

    private static func runs(in scalars: [Unicode.Scalar], of set: Set<Unicode.Scalar>, atLeast length: Int) -> [String] {
        scalars.split { !set.contains($0) }.filter { $0.count >= length }.map { run in
            var text = ""
            text.unicodeScalars.append(contentsOf: run)
            return text
        }
    }

    /// Of the run as an APNs token, whole and its last 64 digits; and as an FCM token, whole and behind each separator.
    static func hashes(of run: String) -> Set<String> {
        var hashes: Set<String> = []
        for digits in [run, String(run.suffix(64))] {
            if let hash = try? TokenHash.apns(digits) { hashes.insert(hash.rawValue) }
        }
        var tail = run[...]
        while tail.count >= 100 {
            if let hash = try? TokenHash.fcm(String(tail)) { hashes.insert(hash.rawValue) }
            guard let separator = tail.firstIndex(where: { "-_:".contains($0) }) else { break }
            tail = tail[tail.index(after: separator)...]
        }
        return hashes
    }
}
