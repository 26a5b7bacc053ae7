package import Postgres
package import PushContract

/// What every send path takes its token actions through: counts what providers say of tokens, and stops switching off when too many are
/// refused at once. Runs inside the caller's transaction.
package struct TokenGuard: Sendable {
    private let limits: DeactivationDecision.Limits
    private let slot: Int32

    /// - Parameter slot: the process's own rows of the counts.
    package init(limits: DeactivationDecision.Limits = DeactivationDecision.Limits(), slot: Int32 = .random(in: 0...1_000_000)) {
        self.limits = limits
        self.slot = slot
    }

    /// What a batch of outcomes came to.
    package struct Report: Sendable {
        /// The strikes, by their place in the batch, that are to be put aside under a breaker instead of applied.
        package var withheld: [Int: Int64] = [:]
        package var opened: [CredentialPlace] = []
    }

    /// Counts the judgements and applies the strikes; the places of those that switched a token off.
    package func apply(
        _ strikes: [TokenStrike],
        judgements: [TokenJudgement],
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> (off: Set<Int>, opened: [CredentialPlace]) {
        let report = try admit(strikes, judgements: judgements, on: connection, now: now)
        let off = try DeviceTokens.apply(strikes, withheld: report.withheld, on: connection, now: now)
        return (off, report.opened)
    }

    /// Counts the judgements, and tells which strikes have to wait for a person.
    package func admit(
        _ strikes: [TokenStrike],
        judgements: [TokenJudgement],
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Report {
        try count(judgements, on: connection, now: now)
        var report = Report()
        let adverse = strikes.enumerated().filter { $0.element.verdict != .proven && $0.element.credential != nil }
        guard !adverse.isEmpty else { return report }
        let causes = Dictionary(adverse.compactMap { strike in strike.element.place.map { ($0, strike.element.cause) } }) { first, _ in
            first
        }
        let standings = try GuardQueries.standings(Array(causes.keys), since: now - limits.window, on: connection, now: now)
        var open: [CredentialPlace: Int64] = [:]
        for (place, standing) in standings.sorted(by: { $0.key.key < $1.key.key }) {
            if let breaker = standing.open {
                open[place] = breaker
            } else if !standing.isQuiet, DeactivationDecision.opens(standing.counts, limits: limits) {
                open[place] = try GuardQueries.open(
                    place,
                    counts: standing.counts,
                    cause: causes[place] ?? "",
                    windowFrom: now - limits.window,
                    on: connection,
                    now: now
                )
                report.opened.append(place)
            }
        }
        for (index, strike) in adverse { report.withheld[index] = strike.place.flatMap { open[$0] } }
        return report
    }

    private func count(_ judgements: [TokenJudgement], on connection: BlockingConnection, now: Timestamp) throws {
        guard !judgements.isEmpty else { return }
        var counts: [CredentialPlace: DeactivationDecision.Counts] = [:]
        for judgement in judgements {
            counts[judgement.place, default: .init(judged: 0, ambiguous: 0, gone: 0)].judged += 1
            if judgement.kind == .ambiguous { counts[judgement.place]?.ambiguous += 1 }
            if judgement.kind == .gone { counts[judgement.place]?.gone += 1 }
        }
        try GuardQueries.count(counts, slot: slot, on: connection, now: now)
    }
}

extension TokenStrike {
    /// Where it counts; nil when the credential is not known.
    var place: CredentialPlace? {
        guard let credential, let environment else { return nil }
        return CredentialPlace(provider: provider, app: app, environment: environment, credential: credential)
    }
}
