import PushContract

/// Finds in a text what may be a token: the one that was sent to, or whatever has the shape of one.
enum TokenRemoval {
    private static let replacement = "(token)"

    static func of(_ text: String, _ token: String) -> String {
        // Shorter texts hold no token. Almost all are.
        guard text.utf8.count >= 64 || !token.isEmpty && text.utf8.count >= token.utf8.count else { return text }
        // FCM's are registered as they are, whatever they consist of: such a one is no part of a run.
        let isRun = token.utf8.allSatisfy(TokenShape.isTokenCharacter)
        let text = isRun ? text : text.replacing(token, with: replacement)
        var kept: [UInt8] = []
        var rest = text.utf8[...]
        while let first = rest.first {
            let run = rest.prefix { TokenShape.isTokenCharacter($0) }
            if run.isEmpty {
                kept.append(first)
                rest = rest.dropFirst()
            } else {
                kept += mayBeToken(run, token) ? Array(replacement.utf8) : Array(run)
                rest = rest.dropFirst(run.count)
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private static func mayBeToken(_ run: Substring.UTF8View, _ token: String) -> Bool {
        if !token.isEmpty, String(decoding: run, as: UTF8.self).lowercased().contains(token.lowercased()) { return true }
        return Array(run).withUnsafeBufferPointer(TokenShape.isContained(in:))
    }
}
