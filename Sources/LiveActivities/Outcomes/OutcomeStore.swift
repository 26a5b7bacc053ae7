package import Delivery
package import Postgres
package import PushContract

/// Writes what came of pushes: activity rows, token actions, holds and attempts, in one transaction for many.
package struct OutcomeStore: Sendable {
    /// What a batch came to.
    package struct Report: Sendable {
        /// The places of those whose token action a limiter withheld.
        package var deferred: Set<Int> = []
        package var sendGate = CircuitWriter.Report()
    }

    private let pool: PostgresPool
    private let feedbackWriter: TokenFeedbackWriter
    private let channels: ChannelPolicy
    private let record: AttemptRecorder

    /// - Parameter feedbackWriter: what every token action goes through.
    package init(
        pool: PostgresPool,
        feedbackWriter: TokenFeedbackWriter = TokenFeedbackWriter(),
        channels: ChannelPolicy = ChannelPolicy(),
        record: @escaping AttemptRecorder
    ) {
        self.pool = pool
        self.channels = channels
        self.feedbackWriter = feedbackWriter
        self.record = record
    }

    /// - Parameters:
    ///   - answered: groups of intents that have all their outcomes with these, so nothing of them is left to be told.
    ///   - owner: the process whose groups they are.
    @discardableResult
    package func write(_ outcomes: [LiveOutcome], forgetting answered: [Int64] = [], of owner: String = "") async throws -> Report {
        guard !outcomes.isEmpty else { return Report() }
        return try await pool.performTransaction { [feedbackWriter, channels, record] connection in
            var report = Report()
            try OutcomeQueries.updated(outcomes, on: connection)
            try OutcomeQueries.ended(outcomes, on: connection)
            try OutcomeQueries.started(outcomes, on: connection)
            for outcome in outcomes {
                guard case .channel(let effect) = outcome.effect else { continue }
                try ChannelWriting.apply([effect], policy: channels, on: connection, now: outcome.at)
            }
            let limiters = try admitted(outcomes, by: feedbackWriter, on: connection)
            report.deferred = Set(limiters.keys)
            var off = try OutcomeQueries.dead(outcomes, deferred: report.deferred, on: connection)
            off.formUnion(try startTokens(outcomes, deferred: limiters, on: connection))
            report.sendGate = try CircuitWriter.write(
                openings: outcomes.compactMap(\.opening),
                circuitsClosed: Set(outcomes.flatMap(\.circuitsClosed)),
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

    /// Counts what was said of tokens; the limiters, by the outcome's place, that keep a token from being given up.
    private func admitted(
        _ outcomes: [LiveOutcome],
        by feedbackWriter: TokenFeedbackWriter,
        on connection: BlockingConnection
    ) throws -> [Int: Int64] {
        let withFeedback = outcomes.enumerated().compactMap { place, outcome in outcome.feedback.map { (place, $0) } }
        let samples = outcomes.compactMap(\.sample)
        guard !withFeedback.isEmpty || !samples.isEmpty else { return [:] }
        let report = try feedbackWriter.admit(withFeedback.map(\.1), samples: samples, on: connection, now: outcomes[0].at)
        return Dictionary(uniqueKeysWithValues: report.deferred.map { (withFeedback[$0.key].0, $0.value) })
    }

    /// The places of starts that switched their token off.
    private func startTokens(
        _ outcomes: [LiveOutcome],
        deferred: [Int: Int64],
        on connection: BlockingConnection
    ) throws -> Set<Int> {
        let withFeedback = outcomes.enumerated().compactMap { place, outcome in
            outcome.isStart ? outcome.feedback.map { (place: place, feedback: $0) } : nil
        }
        guard !withFeedback.isEmpty else { return [] }
        var limiters: [Int: Int64] = [:]
        for (index, entry) in withFeedback.enumerated() { limiters[index] = deferred[entry.place] }
        let off = try StartTokens.apply(withFeedback.map(\.feedback), deferred: limiters, on: connection, now: outcomes[0].at)
        return Set(off.map { withFeedback[$0].place })
    }
}
