package import PushContract

/// When a page that reached nobody, or that nobody acknowledged, goes to further receivers: `escalate` of `receivers.yml`.
package struct EscalationPolicy: Sendable, Hashable {
    /// The receivers of one step, and how long after the step before it is taken.
    package struct Step: Sendable, Hashable {
        package var receivers: [String]
        /// The receiver that is on duty when the step is taken is notified too.
        package var duty: DutyRotation?
        /// After the step before it; nil: `unacknowledgedAfter`.
        package var wait: Duration?

        package init(receivers: [String], duty: DutyRotation? = nil, wait: Duration? = nil) {
            self.receivers = receivers
            self.duty = duty
            self.wait = wait
        }

        /// Everybody it may notify.
        var allReceivers: Set<String> { Set(receivers).union(duty?.allReceivers ?? []) }

        package func receivers(at now: Timestamp) -> [String] {
            guard let onDuty = duty?.receiver(at: now), !receivers.contains(onDuty) else { return receivers }
            return receivers + [onDuty]
        }
    }

    /// A step that is to be taken.
    package struct Escalation: Sendable, Hashable {
        /// Counted from 1.
        package var step: Int
        package var receivers: [String]
        package var reason: EscalationReason
    }

    /// How long a page waits for any receiver to accept it.
    package var unconfirmedAfter: Duration
    /// How long a page waits to be acknowledged.
    package var unacknowledgedAfter: Duration
    package var steps: [Step]

    package init(unconfirmedAfter: Duration, unacknowledgedAfter: Duration, steps: [Step]) {
        self.unconfirmedAfter = unconfirmedAfter
        self.unacknowledgedAfter = unacknowledgedAfter
        self.steps = steps
    }

    /// The step to take now; nil when none is due, or when no further step has anybody to notify.
    ///
    /// - Parameter people: the configured receivers that notify people.
    package func next(after state: EscalationState, people: Set<String>, at now: Timestamp) -> Escalation? {
        guard let due = due(after: state, people: people), due.at <= now else { return nil }
        return steps.indices.dropFirst(state.step).lazy.compactMap { index -> Escalation? in
            // Steps with nobody to reach are skipped at once.
            let receivers = steps[index].receivers(at: now).filter { people.contains($0) && !state.paged.contains($0) }
            return receivers.isEmpty ? nil : Escalation(step: index + 1, receivers: receivers, reason: due.reason)
        }.first
    }

    /// The next step and when it is taken, unless the page is acknowledged or ends before.
    package func nextStep(after state: EscalationState, people: Set<String>) -> (at: Timestamp, escalation: Escalation)? {
        guard let due = due(after: state, people: people) else { return nil }
        return next(after: state, people: people, at: due.at).map { (due.at, $0) }
    }

    /// When the next step is due, unless the page is acknowledged or ends before; nil after the last step.
    func due(after state: EscalationState, people: Set<String>) -> (at: Timestamp, reason: EscalationReason)? {
        guard state.step < steps.count else { return nil }
        if state.notified.isDisjoint(with: people) { return (state.since, .noReceiver) }
        let wait = state.step == 0 ? unacknowledgedAfter : steps[state.step].wait ?? unacknowledgedAfter
        if !state.isConfirmed, unconfirmedAfter < wait { return (state.since + unconfirmedAfter, .unconfirmed) }
        return (state.since + wait, .unacknowledged)
    }
}

/// How far a page has been escalated.
package struct EscalationState: Sendable, Hashable {
    /// The newest step; 0: the receivers of its routes.
    package var step: Int
    /// When that step was taken, or its receivers began to be notified.
    package var since: Timestamp
    /// A receiver that notifies people has accepted the page since then.
    package var isConfirmed: Bool
    /// Everybody who was notified, or is to be.
    package var notified: Set<String>
    /// Those of them that no step notifies again: everybody, or of a reopened alert those that were paged since it was reopened.
    package var paged: Set<String>

    package init(step: Int, since: Timestamp, isConfirmed: Bool, notified: Set<String>, paged: Set<String>? = nil) {
        self.step = step
        self.since = since
        self.isConfirmed = isConfirmed
        self.notified = notified
        self.paged = paged ?? notified
    }
}

/// Why a page goes to further receivers.
package enum EscalationReason: String, Sendable, Hashable {
    /// None of its receivers is configured and notifies people.
    case noReceiver = "no_receiver"
    case unconfirmed, unacknowledged

    package var text: String {
        switch self {
        case .noReceiver: "none of its receivers notifies people"
        case .unconfirmed: "no receiver accepted it in time"
        case .unacknowledged: "it was not acknowledged in time"
        }
    }
}
