import AlertRules

/// What a second evaluation of minutes means for alerts that were raised, or were not, by the first: a pure function.
///
/// It compares when each group fired, minute by minute, as found and as recorded; whether the fold calls a beginning fired or reopened does
/// not matter for that. Nothing that was notified is withdrawn; the alert that is open at the end is the one a backtest finds open.
///
/// Late attempts change nothing about the minutes before them. A difference there is due to other data, such as an import: it begins and
/// ends no alert that lasts into them.
struct LateReconciliation {
    /// An incident that is over, from its beginning to its end.
    struct Incident: Hashable {
        var begin: Transition
        var end: Transition
    }

    /// A time in which the second evaluation finds a group firing.
    private struct Firing {
        /// Nil when it began before.
        var begin: Transition?
        /// Nil when it goes on.
        var end: Transition?

        var from: Minute? { begin.map { $0.minute + 1 } }
        var until: Minute? { end.map { $0.minute + 1 } }

        func overlaps(_ other: RecordedFiring) -> Bool {
            let beginsBefore = if let from, let end = other.until { from < end } else { true }
            let endsAfter = if let until { other.from < until } else { true }
            return beginsBefore && endsAfter
        }
    }

    /// Transitions that follow what was recorded of their group, in order.
    private(set) var transitions: [Transition] = []
    /// What ended before, or in the middle of, what was recorded of its group: alerts of their own.
    private(set) var incidents: [Incident] = []
    /// Groups whose open alert the second evaluation does not find firing.
    private(set) var contradicted: Set<GroupKey> = []
    /// Groups that are not found as they were recorded when the late minutes begin: they keep their state, and go on from it.
    private(set) var kept: Set<GroupKey> = []

    private let rule: AlertRule
    private let since: Minute

    /// - Parameters:
    ///   - found: the transitions of the second evaluation, in order.
    ///   - open: the groups that fire at its end.
    ///   - recorded: when the rule's alerts fired since its beginning, and as long before as an alert may be opened again.
    ///   - since: the oldest late minute.
    init(_ rule: AlertRule, _ found: [Transition], open: [GroupKey: FiringAlert], recorded: [RecordedFiring], since: Minute) {
        self.rule = rule
        self.since = since
        let byGroup = Dictionary(grouping: found, by: \.group)
        let recordedByGroup = Dictionary(grouping: recorded, by: \.group)
        for group in Set(byGroup.keys).union(recordedByGroup.keys).union(open.keys).sorted() {
            add(group, byGroup[group] ?? [], open[group], recordedByGroup[group] ?? [])
        }
        transitions.sort { ($0.minute, $0.group) < ($1.minute, $1.group) }
    }

    private mutating func add(_ group: GroupKey, _ found: [Transition], _ open: FiringAlert?, _ recorded: [RecordedFiring]) {
        var firings = Self.firings(found, isOpen: open != nil)
        // What ended so long before, and was not recorded, is due to other data, and no alert is reopened because of it.
        firings.removeAll { firing in
            !recorded.contains(where: firing.overlaps) && (firing.until.map { $0 <= since - LateAttemptStore.horizon } ?? false)
        }
        if isRecordedOtherwise(firings, recorded) {
            kept.insert(group)
            return
        }
        for (index, firing) in firings.enumerated() {
            let known = recorded.filter(firing.overlaps)
            if known.contains(where: { $0.until == nil }) {
                if index == firings.count - 1, let end = firing.end { transitions.append(end) }
            } else if let newest = known.compactMap(\.until).max() {
                // With more recorded after it, receivers were notified of an end in between.
                guard isNewest(newest, recorded) else { continue }
                extend(firing, after: newest, group, open)
            } else {
                addMissing(firing, recorded, isFirst: index == 0)
            }
        }
        guard recorded.contains(where: { $0.until == nil }), open == nil else { return }
        if !recorded.contains(where: { $0.until == nil && firings.last?.overlaps($0) == true }) { contradicted.insert(group) }
    }

    /// Before the late minutes the group did not fire as it is found to have.
    private func isRecordedOtherwise(_ firings: [Firing], _ recorded: [RecordedFiring]) -> Bool {
        if firings.contains(where: { goesOn($0) && isOlder($0, recorded) }) { return true }
        return recorded.contains { one in
            one.until == nil && one.from <= since && !firings.contains { goesOn($0) && $0.overlaps(one) }
        }
    }

    /// Whether it reaches into the late minutes.
    private func goesOn(_ firing: Firing) -> Bool { firing.until.map { $0 > since } ?? true }

    /// Whether it began before the late minutes and was not recorded, or was recorded as over then.
    private func isOlder(_ firing: Firing, _ recorded: [RecordedFiring]) -> Bool {
        let known = recorded.filter(firing.overlaps)
        guard !known.isEmpty else { return firing.from.map { $0 <= since } ?? false }
        guard let newest = known.compactMap(\.until).max(), isNewest(newest, recorded) else { return false }
        return newest <= since
    }

    /// Nothing of the group was recorded that ended later, or fires.
    private func isNewest(_ end: Minute, _ recorded: [RecordedFiring]) -> Bool {
        recorded.allSatisfy { $0.until.map { $0 <= end } ?? false }
    }

    /// It lasted longer than was recorded, or lasts.
    private mutating func extend(_ firing: Firing, after recorded: Minute, _ group: GroupKey, _ open: FiringAlert?) {
        if let until = firing.until, until <= max(recorded, since) { return }
        let own = open.map { Transition.reopened($0, of: rule, group, at: recorded - 1) }
        guard var begin = firing.begin ?? firing.end ?? own else { return }
        begin.kind = .reopened
        begin.reason = .conditionMet
        begin.minute = recorded - 1
        begin.endsAt = nil
        transitions += [begin, firing.end].compactMap { $0 }
    }

    private mutating func addMissing(_ firing: Firing, _ recorded: [RecordedFiring], isFirst: Bool) {
        guard let begin = firing.begin, let from = firing.from else { return }
        if recorded.allSatisfy({ $0.until.map { $0 <= from } ?? false }) {
            // What it would open again was never recorded: it begins by itself.
            let begin = isFirst && recorded.isEmpty ? begin.asBeginning : begin
            transitions += [begin, firing.end].compactMap { $0 }
        } else if let end = firing.end {
            incidents.append(Incident(begin: begin.asBeginning, end: end))
        }
    }

    private static func firings(_ transitions: [Transition], isOpen: Bool) -> [Firing] {
        var firings: [Firing] = []
        for transition in transitions {
            if transition.kind != .resolved {
                firings.append(Firing(begin: transition))
            } else if let last = firings.indices.last, firings[last].end == nil {
                firings[last].end = transition
            } else {
                firings.append(Firing(end: transition))
            }
        }
        if isOpen, firings.last.map({ $0.end != nil }) ?? true { firings.append(Firing()) }
        return firings
    }
}
