import AlertRules
import Logging
import Postgres
import PushContract

/// What alerts that begin state in addition to their evaluation: impact, backlog, what mutes them, and the receivers to notify.
struct AlertBeginnings {
    let pass: RulePass
    /// Those in effect.
    let silences: [AlertSilence]
    let causes: SuppressionCandidates

    /// Adds impact, backlog, cause and receivers to the alerts that begin.
    func completed(_ changes: [AlertChange]) async throws -> [AlertChange] {
        let changes = changes.map { change in
            guard case .reopen(let alert, let minute, _) = change else { return change }
            let (muted, names) = muted(alert, at: minute)
            return .reopen(muted, minute: minute, receivers: names)
        }
        let fired = changes.compactMap { change in if case .fire(_, let transition, _) = change { transition } else { nil } }
        guard !fired.isEmpty else { return changes }
        let impacts = try await impacts(fired)
        let backlog = try await optional("backlog") { try await pass.backlog?(pass.now) }
        return changes.map { change in
            guard case .fire(var alert, let transition, _) = change else { return change }
            if let impact = impacts[transition.group] {
                alert.contributors = impact.contributors
                alert.affected = impact.devices
            }
            alert.backlog = backlog
            let (muted, names) = muted(alert, at: transition.minute)
            return .fire(muted, transition, receivers: names)
        }
    }

    /// Who is affected, of the largest alerts first, as long as the time lasts: when many begin at once, none waits for the impact of all.
    /// `ImpactPass` reads that of the others when they are open.
    private func impacts(_ fired: [Transition]) async throws -> [GroupKey: Impact] {
        guard pass.rule.condition.hasBadAttempts else { return [:] }
        let end = ContinuousClock.now + pass.configuration.impactTime
        let largest = fired.sorted { $0.evidence.observed.counts.bad > $1.evidence.observed.counts.bad }
        var impacts: [GroupKey: Impact] = [:]
        for (index, transition) in largest.enumerated() where impacts[transition.group] == nil {
            guard index == 0 || ContinuousClock.now < end else { break }
            impacts[transition.group] = try await optional("impact") {
                try await Impact.read(
                    pass.rule,
                    group: transition.group,
                    window: transition.evidence.observed,
                    time: pass.configuration.sampleTime,
                    logger: pass.logger,
                    on: pass.pool
                )
            }
        }
        return impacts
    }

    /// What an alert can begin without: a query that exceeds its time, as of a large backlog, keeps no alert from firing.
    private func optional<Value: Sendable>(_ name: String, _ read: () async throws -> Value?) async throws -> Value? {
        do {
            return try await read()
        } catch let error where Self.isOptional(error) {
            pass.logger.warning(
                "an alert begins without numbers that could not be read",
                metadata: ["rule": "\(pass.rule.name)", "numbers": "\(name)", "error": "\(error)"]
            )
            return nil
        }
    }

    /// Without a connection nothing can be written. A call that exceeded its time is a slow query, unless the next one fails, too.
    private static func isOptional(_ error: any Error) -> Bool {
        if error is CancellationError || error is LeaseLost { return false }
        guard let error = error as? PostgresError else { return true }
        return !error.isConnectionLoss || error.code == .callTimeout
    }

    /// The alert with what mutes it, and the receivers to notify.
    private func muted(_ alert: Alert, at minute: Minute) -> (Alert, receivers: [String]) {
        var alert = alert
        alert.silencedBy = silences.first { $0.matches(alert.labels) }?.id
        let names = pass.receivers.names(for: alert)
        let suppression = causes.suppression(of: alert, lastSet: minute, at: minute, receivers: names)
        alert.suppressedBy = suppression?.suppressedBy
        return (alert, suppression?.unnotified ?? names)
    }
}
