/// Cutting texts to a receiver's limits, never inside a character.
extension String {
    /// At most `limit` characters, the last of them `…` when something is missing.
    func cut(toCharacters limit: Int) -> String {
        count <= limit ? self : String(prefix(max(0, limit - 1))) + "…"
    }

    /// At most `limit` bytes of UTF-8, ending with `…` when something is missing.
    func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var kept = ""
        var size = "…".utf8.count
        for character in self {
            size += character.utf8.count
            guard size <= limit else { break }
            kept.append(character)
        }
        return limit < 3 ? "" : kept + "…"
    }
}
