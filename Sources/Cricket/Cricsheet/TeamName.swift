/// Short names for two teams: what fits on a lock screen.
enum TeamName {
    /// Initials of several words (`Rajasthan Royals` → `RR`), the first three letters of one (`India` → `IND`); never the same twice.
    static func shorts(_ names: [String]) -> [String] {
        let first = names.map(short)
        guard Set(first).count < first.count else { return first }
        let longer = names.map { letters($0, 5) }
        guard Set(longer).count < longer.count else { return longer }
        return longer.enumerated().map { "\($1)\($0 + 1)" }
    }

    private static func short(_ name: String) -> String {
        let words = name.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
        guard words.count > 1 else { return letters(name, 3) }
        return String(words.prefix(4).compactMap(\.first)).uppercased()
    }

    private static func letters(_ name: String, _ count: Int) -> String {
        let kept = name.filter { $0.isLetter || $0.isNumber }.prefix(count).uppercased()
        return kept.isEmpty ? "TEAM" : kept
    }
}
