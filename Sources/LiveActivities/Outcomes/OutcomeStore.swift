package import Delivery
package import Postgres
package import PushContract

/// Writes what came of pushes: activity rows, token actions, holds and attempts, in one transaction for many.
package struct OutcomeStore: Sendable {
    /// What a batch came to.
    package struct Report: Sendable {
        /// The places of those whose token action a breaker withheld.
        package var withheld: Set<Int> = []
        package var standstill = Standstill.Report()
    }

    private let pool: PostgresPool
    private let tokenGuard: TokenGuard
    private let channels: ChannelPolicy
    private let record: AttemptRecorder

    /// - Parameter tokenGuard: what every token action goes through.
    package init(
        pool: PostgresPool,
        tokenGuard: TokenGuard = TokenGuard(),
        channels: ChannelPolicy = ChannelPolicy(),
        record: @escaping AttemptRecorder
    ) {
        self.pool = pool
        self.channels = channels
        self.tokenGuard = tokenGuard
        self.record = record
    }

    /// - Parameters:
    ///   - answered: groups of intents that have all their outcomes with these, so nothing of them is left to be told.
    ///   - owner: the process whose groups they are.
    @discardableResult
    package func write(_ outcomes: [LiveOutcome], forgetting answered: [Int64] = [], of owner: String = "") async throws -> Report {
        guard !outcomes.isEmpty else { return Report() }
        return try await pool.performTransaction { [tokenGuard, channels, record] connection in
            var report = Report()
            try OutcomeQueries.updated(outcomes, on: connection)
            try OutcomeQueries.ended(outcomes, on: connection)
            try OutcomeQueries.started(outcomes, on: connection)
            for outcome in outcomes {
                guard case .channel(let effect) = outcome.effect else { continue }
                try ChannelWriting.apply([effect], policy: channels, on: connection, now: outcome.at)
            }
            let breakers = try admitted(outcomes, by: tokenGuard, on: connection)
            report.withheld = Set(breakers.keys)
            var off = try OutcomeQueries.dead(outcomes, withheld: report.withheld, on: connection)
            off.formUnion(try startTokens(outcomes, withheld: breakers, on: connection))
            report.standstill = try Standstill.write(
                openings: outcomes.compactMap(\.opening),
                releases: Set(outcomes.flatMap(\.releases)),
                pauses: outcomes.compactMap(\.pause),
                on: connection
            )
            let attempts = outcomes.enumerated().compactMap { place, outcome -> Attempt? in
                guard var attempt = outcome.attempt else { return nil }
                if off.contains(place) && attempt.status == .failed { attempt.status = .deactivated }
                return attempt
            }
            if !attempts.isEmpty { try record(attempts, connection) }
            try IntentStore.forget(answered, owner: owner, on: connection)
            return report
        }
    }

    /// Counts what was said of tokens; the breakers, by the outcome's place, that keep a token from being given up.
    private func admitted(
        _ outcomes: [LiveOutcome],
        by tokenGuard: TokenGuard,
        on connection: BlockingConnection
    ) throws -> [Int: Int64] {
        let struck = outcomes.enumerated().compactMap { place, outcome in outcome.strike.map { (place, $0) } }
        let judgements = outcomes.compactMap(\.judgement)
        guard !struck.isEmpty || !judgements.isEmpty else { return [:] }
        let report = try tokenGuard.admit(struck.map(\.1), judgements: judgements, on: connection, now: outcomes[0].at)
        return Dictionary(uniqueKeysWithValues: report.withheld.map { (struck[$0.key].0, $0.value) })
    }

    /// The places of starts that switched their token off.
    private func startTokens(
        _ outcomes: [LiveOutcome],
        withheld: [Int: Int64],
        on connection: BlockingConnection
    ) throws -> Set<Int> {
        let struck = outcomes.enumerated().compactMap { place, outcome in
            outcome.isStart ? outcome.strike.map { (place: place, strike: $0) } : nil
        }
        guard !struck.isEmpty else { return [] }
        var breakers: [Int: Int64] = [:]
        for (index, entry) in struck.enumerated() { breakers[index] = withheld[entry.place] }
        let off = try StartTokens.apply(struck.map(\.strike), withheld: breakers, on: connection, now: outcomes[0].at)
        return Set(off.map { struck[$0].place })
    }
}
