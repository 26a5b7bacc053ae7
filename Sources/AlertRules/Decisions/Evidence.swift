/// The numbers by which a rule decided: an alert shows them, and a query can reproduce them.
package struct Evidence: Sendable, Hashable, Codable {
    /// What the threshold was compared with.
    package enum Level: String, Sendable, Hashable, Codable {
        /// A fixed share (`ratio`).
        case threshold
        /// `ratio` over pushes that are not attempted: a credential is refused, and its pushes wait.
        case blocked
        /// A baseline in its learning period: a fixed share, never a page.
        case learning
        /// A baseline over its whole reference.
        case reference
        /// The same under unusual volume: a ticket.
        case unusualVolume = "unusual_volume"
        /// What is expected has doubled: a ticket.
        case newNormal = "new_normal"
        /// `absence/1`: attempts, none of which succeeded.
        case absence
        /// `traffic-drop/1`: `attempts` were made, `expected` are usual.
        case trafficDrop = "traffic_drop"
        /// `backlog/1`: `bad` is what waits at the end of the window, `attempts` what waited in its first third.
        case backlog
        /// `queue-age/1`: `bad` is the age of the oldest due delivery in seconds.
        case queueAge = "queue_age"
        /// `first-sight/1`: attempts that ended with the code in the minute it was seen.
        case firstSight = "first_sight"
        /// `reregistration/1`: `attempts` are devices, `bad` those that did not return; `expected` would have returned as usual.
        case reregistration
        /// `feed-silent/1`: `bad` is the number of followers affected.
        case feedSilent = "feed_silent"

        /// What was expected is part of the evidence.
        var hasExpectation: Bool { isMultiple || [.reregistration, .trafficDrop].contains(self) }

        /// The threshold is a multiple of what was expected.
        package var isMultiple: Bool { [.reference, .unusualVolume, .newNormal].contains(self) }

        /// Never a page.
        var isTicket: Bool { [.learning, .unusualVolume, .newNormal].contains(self) }

        /// An alert at another level ends where one at this level begins.
        func replaces(_ other: Level) -> Bool {
            let order: [Level] = [.newNormal, .learning, .unusualVolume, .reference]
            guard let own = order.firstIndex(of: self), let others = order.firstIndex(of: other) else { return false }
            return own > others
        }

        /// `bad` and `attempts` count attempts, and there are some: texts about the window show both.
        package func showsCounts(of window: WindowCounts) -> Bool {
            window.counts.attempts > 0 && ![.trafficDrop, .backlog, .queueAge, .reregistration, .feedSilent].contains(self)
        }

        /// The threshold is compared with the share of bad attempts, or with a multiple of it.
        package var comparesShares: Bool { isMultiple || [.threshold, .blocked, .learning, .absence].contains(self) }

        /// Of two windows the one with the larger `bad` is worse, whatever the share.
        var comparesNumbers: Bool { [.backlog, .queueAge, .firstSight, .feedSilent].contains(self) }
    }

    /// `ratio/2` or `baseline/2`.
    package var definition: String
    package var level: Level
    /// A share, or with `level.isMultiple` a multiple of `expected`.
    package var threshold: Fraction
    package var observed: WindowCounts
    /// The window with the largest excess while the alert was open; at firing the same as `observed`.
    package var worst: WindowCounts
    /// Bad attempts expected in `observed` (baseline with a reference only).
    package var expected: Double?
    /// Bad attempts expected in `worst`.
    package var worstExpected: Double?
    /// The refused credentials that pushes wait for; absent when none is.
    package var openCircuits: [OpenCircuit]?

    package init(
        definition: String,
        level: Level,
        threshold: Fraction,
        observed: WindowCounts,
        worst: WindowCounts,
        expected: Double? = nil,
        worstExpected: Double? = nil,
        openCircuits: [OpenCircuit]? = nil
    ) {
        self.definition = definition
        self.level = level
        self.threshold = threshold
        self.observed = observed
        self.worst = worst
        self.expected = expected
        self.worstExpected = worstExpected
        self.openCircuits = openCircuits
    }

    /// `6.3 %` of a ratio, `4.1×` of a baseline.
    package var observedText: String { text(observed.counts, expected: expected) }
    /// `4.1× of the 12 expected`, without a bad attempt `0.07 expected`; `0.53 % of 70000 attempts` where nothing is known to expect.
    package var multipleText: String {
        guard let expected else {
            return observed.counts.attempts > 0 ? "\(observedText) of \(observed.counts.attempts) attempts" : observedText
        }
        guard expected > 0 else { return "none expected" }
        let known = "\(Fraction.rounded(expected)) expected"
        return observed.counts.bad > 0 ? "\(observedText) of the \(known)" : known
    }
    package var worstText: String { text(worst.counts, expected: worstExpected) }
    package var thresholdText: String {
        switch level {
        case .threshold, .blocked, .learning: threshold.percent
        case .reference, .unusualVolume, .newNormal: threshold.multiple
        case .absence: "no success"
        case .backlog: "\(threshold.numerator) waiting"
        case .queueAge: Self.age(threshold.numerator)
        case .firstSight: "any"
        case .feedSilent: Self.followers(threshold.numerator)
        case .reregistration, .trafficDrop: "\(threshold.percent) of the usual"
        }
    }

    /// What the threshold means, for people.
    package var thresholdPhrase: String {
        switch level {
        case .threshold: "above \(thresholdText)"
        case .blocked: "above \(thresholdText), or a credential refused throughout"
        case .learning: "above \(thresholdText), fixed: the baseline is still learning"
        case .reference: "above \(thresholdText) what the last days let expect"
        case .unusualVolume: "above \(thresholdText) what the last days let expect, under unusual volume"
        case .newNormal: "above \(thresholdText) the lowest level of two weeks: a new normal"
        case .backlog: "above \(thresholdText), and growing"
        case .queueAge, .feedSilent: "above \(thresholdText)"
        case .absence, .firstSight: thresholdText
        case .reregistration, .trafficDrop: "below \(thresholdText)"
        }
    }

    /// `48 bad attempts in that window`; nil when nothing was expected.
    package var expectedText: String? {
        guard let expected else { return nil }
        let unit =
            switch level {
            case .reregistration: "devices that return"
            case .trafficDrop: "attempts in that window"
            default: "bad attempts in that window"
            }
        return "\(Fraction.rounded(expected)) \(unit)"
    }

    /// What waits for which credential; nil when nothing does.
    package var openCircuitsText: String? {
        guard let openCircuits, !openCircuits.isEmpty else { return nil }
        let more = openCircuits.count > 3 ? ["\(openCircuits.count - 3) more"] : []
        return (openCircuits.prefix(3).map(\.text) + more).joined(separator: "; ")
    }

    private func text(_ counts: AttemptCounts, expected: Double?) -> String {
        switch level {
        case .threshold, .blocked, .learning, .reference, .unusualVolume, .newNormal: return Self.share(counts, expected: expected)
        case .absence: return "\(counts.attempts - counts.bad) successes"
        case .trafficDrop: return "\(counts.attempts) attempts, " + Self.usual(counts, expected)
        case .backlog: return "\(counts.bad) waiting"
        case .queueAge: return Self.age(counts.bad)
        case .feedSilent: return Self.followers(counts.bad)
        case .firstSight: return counts.bad == 1 ? "1 attempt" : "\(counts.bad) attempts"
        case .reregistration:
            let returned = Fraction.percent(counts.attempts > 0 ? Double(counts.attempts - counts.bad) / Double(counts.attempts) : 0)
            return returned + " returned"
        }
    }

    /// `95 s`, `7m`, `1h30m`
    private static func age(_ seconds: Int64) -> String {
        seconds < 120 ? "\(seconds) s" : RuleDuration(minutes: Int(seconds / 60)).description
    }

    private static func followers(_ count: Int64) -> String { count == 1 ? "1 follower" : "\(count) followers" }

    private static func usual(_ counts: AttemptCounts, _ expected: Double?) -> String {
        guard let expected, expected > 0 else { return "none usual" }
        return Fraction.percent(Double(counts.attempts) / expected) + " of the usual"
    }

    private static func share(_ counts: AttemptCounts, expected: Double?) -> String {
        if let expected { return expected > 0 ? Fraction.rounded(Double(counts.bad) / expected) + "×" : "–" }
        return counts.share.map(Fraction.percent) ?? "no attempts"
    }
}
