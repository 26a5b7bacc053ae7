import AlertRules

/// What a second evaluation of minutes means for alerts that were raised, or were not, by the first: a pure function.
///
/// Nothing that was notified is taken back; the alert that is open at the end is the one a backtest finds open.
struct LateReconciliation {
    /// A stretch of firing in the second evaluation.
    private struct Span {
        /// Nil when it began before.
        var begin: Transition?
        /// Nil when it goes on.
        var end: Transition?
    }

    /// Transitions that were not recorded yet, in order.
    private(set) var transitions: [Transition] = []
    /// Groups whose open alert the second evaluation does not find firing.
    private(set) var contradicted: Set<GroupKey> = []

    /// - Parameters:
    ///   - found: the transitions of the second evaluation, in order.
    ///   - open: the groups that fire at its end.
    ///   - stored: the alerts of the rule that were open at any time since its beginning.
    init(_ found: [Transition], open: Set<GroupKey>, stored: [Alert]) {
        let byGroup = Dictionary(grouping: found, by: \.group)
        let storedByGroup = Dictionary(grouping: stored, by: \.group)
        for group in Set(byGroup.keys).union(storedByGroup.keys).sorted() {
            add(group, Self.spans(byGroup[group] ?? []), isOpen: open.contains(group), storedByGroup[group] ?? [])
        }
        transitions.sort { ($0.minute, $0.group) < ($1.minute, $1.group) }
    }

    private mutating func add(_ group: GroupKey, _ spans: [Span], isOpen: Bool, _ stored: [Alert]) {
        guard !stored.contains(where: { $0.state == .firing }) else {
            if !isOpen {
                if let end = spans.last?.end { transitions.append(end) } else { contradicted.insert(group) }
            }
            return
        }
        for span in spans {
            guard var begin = span.begin else { continue }
            let known = stored.contains { Self.overlaps(span, $0) }
            if let end = span.end {
                guard !known else { continue }
                begin.kind = .fired
                transitions += [begin, end]
            } else {
                begin.kind = known ? .reopened : .fired
                transitions.append(begin)
            }
        }
    }

    private static func spans(_ transitions: [Transition]) -> [Span] {
        var spans: [Span] = []
        for transition in transitions {
            if transition.kind != .resolved {
                spans.append(Span(begin: transition, end: nil))
            } else if let last = spans.indices.last, spans[last].end == nil {
                spans[last].end = transition
            } else {
                spans.append(Span(begin: nil, end: transition))
            }
        }
        return spans
    }

    private static func overlaps(_ span: Span, _ alert: Alert) -> Bool {
        guard let begin = span.begin else { return true }
        let end = span.end.map { ($0.minute + 1).timestamp }
        return (alert.resolvedAt.map { begin.startsAt.timestamp <= $0 } ?? true) && (end.map { alert.startsAt <= $0 } ?? true)
    }
}
