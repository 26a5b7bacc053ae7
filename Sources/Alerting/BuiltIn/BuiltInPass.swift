import AlertRules
import Attempts
import Postgres
import PushContract

/// One evaluation of the alerts about Pushwatch itself: read, decide, write. Everything it changes, it changes in one transaction.
struct BuiltInPass {
    let pool: PostgresPool
    let lease: AlertLease
    let receivers: ReceiverSet
    let rules: RuleRegistry
    /// The newest minute that rules are evaluated for.
    let last: Minute
    let observedSince: Timestamp
    let now: Timestamp
    /// Of rules that are behind, those that an earlier pass found so: see `EvaluatorMaintenance`.
    let lasting: @Sendable ([String]) -> Set<String>

    /// Returns the alerts that began and ended.
    func run() async throws -> [Alert] {
        let silences = try await SilenceStore.current(at: now, on: pool).filter { $0.isActive(at: now) }
        let open = Dictionary(grouping: try await AlertStore.open(on: pool)) { BuiltInAlert(rawValue: $0.rule) }
        let openUnreachable = open[.receiverUnreachable] ?? []
        let openDeadLettered = open[.notificationsDeadLettered] ?? []
        let failures = try await failures(openDeadLettered)
        let outages = try await outages()
        let failing = Set(failures.map(\.receiver)).union(outages.map(\.outage.receiver))
        // A ticket that becomes a page is another alert, which has other receivers.
        var started = failures.filter { failure in !openDeadLettered.contains { $0.concerns(failure.receiver, failure.severity) } }
            .map { BuiltInAlertFactory.notificationsDeadLettered($0, now: now) }
        var ended = openDeadLettered.filter { alert in !failures.contains { alert.concerns($0.receiver, $0.severity) } }
            .map { over($0, at: now) }
        started += outages.filter { outage in !openUnreachable.contains { $0.concerns(outage.outage.receiver, outage.severity) } }
            .map { BuiltInAlertFactory.receiverUnreachable($0.outage, $0.severity, now: now) }
        ended += openUnreachable.filter { alert in !outages.contains { alert.concerns($0.outage.receiver, $0.severity) } }
            .map { over($0, at: now) }
        let gap = try await dataGap(open[.dataGap]?.first)
        let folded = try await labelsFolded(open[.labelsFolded] ?? [])
        let behind = try await rulesNotEvaluated(open[.rulesNotEvaluated]?.first)
        started += gap.started + folded.started + behind.started
        ended += gap.ended + folded.ended + behind.ended
        for index in started.indices { started[index].silencedBy = silences.first { $0.matches(started[index].labels) }?.id }
        let endedIds = Set(ended.map(\.id))
        let lasting = open.filter { $0.key != nil }.values.joined().filter { !endedIds.contains($0.id) }
        let muted = lasting.compactMap { $0.silenced(by: silences) }
        try await NotificationStore.giveUp(
            notFor: receivers.receivers.map(\.name),
            resolvedBefore: now - .seconds(3600),
            now: now,
            on: pool
        )
        try await write(started, ended, muted, failing: failing)
        return started + ended
    }

    /// The configured receivers that do not work. One that was removed has nothing to repair.
    private func failures(_ open: [Alert]) async throws -> [ReceiverFailure] {
        let known = Set(open.compactMap { $0.labels["receiver"] })
        let configured = Set(receivers.receivers.map(\.name))
        return try await BuiltInStore.receiverFailures(known, now: now, on: pool).filter {
            configured.contains($0.receiver) && $0.isFiring(wasFiring: known.contains($0.receiver), at: now)
        }
    }

    /// The receivers that have not accepted their notifications for minutes.
    private func outages() async throws -> [(outage: ReceiverOutage, severity: Severity)] {
        try await BuiltInStore.receiverOutages(receivers, now: now, on: pool).compactMap { outage in
            outage.severity(at: now).map { (outage, $0) }
        }
    }

    private func dataGap(_ open: Alert?) async throws -> (started: [Alert], ended: [Alert]) {
        let gap = try await BuiltInStore.dataGap(observedSince: observedSince, now: now, on: pool)
        let isFiring = gap.isFiring(wasFiring: open != nil, at: now)
        if let open { return ([], isFiring ? [] : [over(open, at: gap.newestHeartbeat ?? now)]) }
        if gap.hasUncommitted(wasFiring: false, at: now), let uncommittedSince = gap.uncommittedSince {
            return ([BuiltInAlertFactory.unwritten(since: uncommittedSince, now: now)], [])
        }
        guard isFiring, let heartbeat = gap.newestHeartbeat else { return ([], []) }
        return ([BuiltInAlertFactory.dataGap(since: heartbeat, now: now)], [])
    }

    /// One alert for each author whose labels were folded within the last hour.
    private func labelsFolded(_ open: [Alert]) async throws -> (started: [Alert], ended: [Alert]) {
        let authors = try await FoldedLabelStore.authors(since: now - .seconds(3600), on: pool)
        let started = authors.filter { author in !open.contains { $0.labels["key"] == author.name } }
        let ended = open.filter { alert in !authors.contains { $0.name == alert.labels["key"] } }
        return (started.map { BuiltInAlertFactory.labelsFolded($0, now: now) }, ended.map { over($0, at: now) })
    }

    /// One alert about the rules that are more than ten minutes behind, for two minutes, until none is; another one when further rules are.
    /// When all rules wait for a writer, so does `last`.
    private func rulesNotEvaluated(_ open: Alert?) async throws -> (started: [Alert], ended: [Alert]) {
        let progress = try await RuleProgress.all(on: pool)
        func behind(_ rules: [AlertRule], by limit: Int) -> [AlertRule] {
            rules.filter { rule in !progress.contains { $0.rule == rule.name && last - $0.covered(by: rule) <= limit } }
        }
        let late = behind(rules.rules(knownFor: .seconds(Self.minutesBehind * 60)), by: Self.minutesBehind).map(\.name)
        let names = lasting(late)
        let all = behind(rules.rules, by: 0)
        if let open, all.isEmpty { return ([], [over(open, at: now)]) }
        let known = open.map(BuiltInAlertFactory.rulesNotEvaluated(namedBy:)) ?? []
        guard !names.isSubset(of: known) else { return ([], []) }
        let failing = all.filter { names.contains($0.name) || known.contains($0.name) }
        let oldest = progress.filter { row in failing.contains { $0.name == row.rule } }.map(\.asOf).min() ?? last - Self.minutesBehind
        let alert = BuiltInAlertFactory.rulesNotEvaluated(
            failing.map(\.name),
            severity: failing.contains(where: \.severity.pages) ? .page : .ticket,
            since: oldest + 1,
            now: now
        )
        return ([alert], open.map { [over($0, at: now)] } ?? [])
    }

    private static let minutesBehind = 10

    private func over(_ alert: Alert, at end: Timestamp) -> Alert {
        var alert = alert
        alert.state = .resolved
        alert.endsAt = end.flooredToMinute()
        alert.resolvedAt = now.flooredToMinute()
        alert.resolvedReason = Transition.Reason.recovered.rawValue
        return alert
    }

    /// `muted`: alerts that go on and that another silence applies to, or none any more; those are due.
    private func write(
        _ started: [Alert],
        _ ended: [Alert],
        _ muted: [(alert: Alert, isDue: Bool)],
        failing: Set<String>
    ) async throws {
        guard !started.isEmpty || !ended.isEmpty || !muted.isEmpty else { return }
        let minute = Minute(now) - 1
        func names(_ alert: Alert) -> [String] {
            receivers.names(for: alert.severity, rule: alert.rule, labels: alert.labels, except: failing)
        }
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            let writer = AlertWriter(transaction: transaction, lease: lease, now: now)
            for alert in ended { try await writer.resolve(alert, minute: minute) }
            for alert in started { try await writer.fire(alert, reason: .conditionMet, minute: minute, receivers: names(alert)) }
            try await writer.update(muted.map(\.alert))
            for (alert, isDue) in muted where isDue { try await writer.enqueueMuted(alert.id, receivers: names(alert)) }
        }
    }
}

extension Alert {
    fileprivate func concerns(_ receiver: String, _ severity: Severity) -> Bool {
        labels["receiver"] == receiver && self.severity == severity
    }
}
