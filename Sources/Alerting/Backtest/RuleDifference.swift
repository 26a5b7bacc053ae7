package import AlertRules

/// How the episodes of a rule's two versions differ over the same history.
package struct RuleDifference: Sendable, Hashable {
    /// An episode of both versions with other times or another severity, or told of otherwise.
    package struct Moved: Sendable, Hashable {
        package var old: BacktestEpisode
        package var new: BacktestEpisode
    }

    package var name: String
    /// Nil when the rule is in one of the sets only.
    package var old: [BacktestEpisode]?
    package var new: [BacktestEpisode]?
    package var gained: [BacktestEpisode] = []
    package var lost: [BacktestEpisode] = []
    package var moved: [Moved] = []
    /// What else has changed about who is told.
    package var settings: [RuleSettingChange] = []

    /// Episodes of one group that overlap in time are the same alert; a rule that split one in two gained the second.
    package init(name: String, old: [BacktestEpisode]?, new: [BacktestEpisode]?, through last: Minute) {
        self.name = name
        self.old = old
        self.new = new
        var rest = new ?? []
        for episode in old ?? [] {
            guard let index = rest.firstIndex(where: { Self.overlap(episode, $0, last) }) else {
                lost.append(episode)
                continue
            }
            let match = rest.remove(at: index)
            if !Self.isSame(episode, match) { moved.append(Moved(old: episode, new: match)) }
        }
        gained = rest
    }

    package var isEmpty: Bool { gained.isEmpty && lost.isEmpty && moved.isEmpty }

    private static func overlap(_ a: BacktestEpisode, _ b: BacktestEpisode, _ last: Minute) -> Bool {
        a.group == b.group && a.fired.startsAt < (b.resolvedAt ?? last + 1) && b.fired.startsAt < (a.resolvedAt ?? last + 1)
    }

    private static func isSame(_ a: BacktestEpisode, _ b: BacktestEpisode) -> Bool {
        a.firedAt == b.firedAt && a.resolvedAt == b.resolvedAt && a.severity == b.severity && a.telling == b.telling
    }
}
