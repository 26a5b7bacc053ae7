import PushContract

/// Keeps a display state under its size, so that a start (attributes, alert and state) stays below the 4 KB of a push.
enum DisplayBudget {
    /// Bytes of canonical JSON, `seq` and `updatedAt` at their longest.
    static let bytes = 2_560
    /// What the two volatile fields may still grow by after the size was taken with zeros.
    private static let reserve = 2 * 19

    /// Removes the least important parts first: recent balls, the bowler, then names, then texts, finally older innings.
    static func shrink(_ state: UnifiedDisplayState) -> UnifiedDisplayState {
        var state = state
        for step in steps {
            if fits(state) { return state }
            step(&state)
        }
        return state
    }

    private static func fits(_ state: UnifiedDisplayState) -> Bool { state.canonicalJSON.count + reserve <= bytes }

    private static let steps: [@Sendable (inout UnifiedDisplayState) -> Void] = [
        { $0.recent = [] },
        { $0.bowler = nil },
        { state in for index in state.batters.indices { state.batters[index].name = state.batters[index].name.cut(toBytes: 48) } },
        { state in for index in state.batters.indices { state.batters[index].name = state.batters[index].name.cut(toBytes: 20) } },
        { state in if let key = state.key { state.key?.text = key.text.cut(toBytes: 160) } },
        { $0.event = $0.event?.cut(toBytes: 80) },
        { $0.status = $0.status.cut(toBytes: 120) },
        { $0.title = $0.title.cut(toBytes: 80) },
        { $0.innings = $0.innings.suffix(6) },
        { $0.event = nil },
        { state in for index in state.innings.indices { state.innings[index].team = state.innings[index].team.cut(toBytes: 24) } },
        { $0.batters = [] },
        { $0.innings = $0.innings.suffix(2) },
    ]
}

extension String {
    /// At most so many bytes as JSON, cut between characters, with an ellipsis where something is missing.
    func cut(toBytes limit: Int) -> String {
        guard jsonSize > limit else { return self }
        var kept = ""
        var size = "…".jsonSize
        for character in self {
            size += String(character).jsonSize
            guard size <= limit else { break }
            kept.append(character)
        }
        return kept + "…"
    }

    private var jsonSize: Int {
        utf8.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "\\") ? 2 : 1) }
    }
}
