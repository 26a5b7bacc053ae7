import Cricket
import Foundation
package import HTTPClient
package import Logging
package import Postgres
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Polls configured URLs for scores, one instance each, until shutdown.
package struct ScoreFeedPoller: Service {
    package typealias Send = @Sendable (OutboundRequest) async throws -> OutboundResponse

    private let feeds: [ScoreFeed]
    private let store: MatchStore
    private let lease: FeedLease
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let logger: Logger
    private let send: Send

    /// - Parameters:
    ///   - interval: between two questions to a feed that has news.
    ///   - clock: what the pauses are measured by.
    ///   - now: the moment states are taken in at.
    package init(
        feeds: [ScoreFeed],
        store: MatchStore,
        pool: PostgresPool,
        owner: String =
            "\(ProcessInfo.processInfo.hostName):\(ProcessInfo.processInfo.processIdentifier):\(UInt32.random(in: 0...UInt32.max))",
        interval: Duration = FeedPollInterval.usual,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { .now() },
        logger: Logger,
        send: @escaping Send
    ) {
        self.feeds = feeds
        self.store = store
        lease = FeedLease(pool: pool, owner: owner)
        self.interval = interval
        self.clock = clock
        self.now = now
        self.logger = logger
        self.send = send
    }

    package func run() async throws {
        // Pushed feeds become silent as well, so this looks at all matches.
        let silence = PeriodicService("silent score feeds", every: .seconds(30), clock: clock, logger: logger) { [store, now] in
            try await store.pauseSilent(since: now() - FeedPollInterval.silenceLimit)
        }
        try? await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for feed in feeds { group.addTask { try await poll(feed) } }
                group.addTask { try await silence.run() }
                try await group.waitForAll()
            }
        }
        try? await lease.release()
    }

    private func poll(_ feed: ScoreFeed) async throws {
        var reader = FeedReader(feed)
        var pollInterval = FeedPollInterval(usual: interval)
        while !Task.isCancelled {
            guard let outcome = await ask(&reader) else {
                try await clock.sleep(for: interval)
                continue
            }
            let wait = pollInterval.wait(after: outcome, now: now())
            // The lease outlasts the pause, else the instances would take turns and each ask at its own pace.
            if let source = reader.source.url { _ = try? await lease.claim(source, for: wait + FeedLease.margin) }
            try await clock.sleep(for: wait)
        }
    }

    /// One request and its outcome; nil when another instance asks.
    func ask(_ reader: inout FeedReader) async -> FeedPollInterval.Outcome? {
        do {
            guard let source = reader.source.url, try await lease.claim(source) else { return nil }
            switch await reader.read(send) {
            case .notModified:
                let taken = try await takeAgain(reader.taken, from: reader.source)
                MatchMetrics.count(poll: taken.hasChanged ? "changed" : "notModified")
                reader.confirm(taken)
                return taken.outcome
            case .failed(let why, let retryAfter):
                logger.warning("a score feed does not answer as it should", metadata: ["feed": "\(source)", "why": "\(why)"])
                MatchMetrics.count(poll: "failed")
                return .failed(retryAfter: retryAfter)
            case .states(let states, let faults):
                for fault in faults {
                    logger.warning("a match of a score feed cannot be used", metadata: ["feed": "\(source)", "why": "\(fault)"])
                }
                var taken = try await take(states, from: reader.source)
                taken.isComplete = taken.isComplete && faults.isEmpty
                taken.isOver = taken.isComplete && !states.isEmpty && states.allSatisfy(\.phase.isFinal)
                MatchMetrics.count(poll: taken.hasChanged ? "changed" : "same")
                reader.confirm(taken)
                return taken.outcome
            }
        } catch {
            logger.log(
                level: .warning.unlessOutage(error),
                "the states of a score feed could not be stored",
                metadata: ["error": "\(error)"]
            )
            MatchMetrics.count(poll: "error")
            return .failed(retryAfter: nil)
        }
    }

    /// A 304: the feed repeats its last answer, also for matches that another source was used for.
    private func takeAgain(_ last: TakenAnswer, from source: MatchSource) async throws -> TakenAnswer {
        try await store.confirm(last.confirmed, from: source, now: now())
        var taken = try await take(last.ignored, from: source)
        taken.confirmed.formUnion(last.confirmed)
        taken.isOver = last.isOver
        return taken
    }

    /// One match that cannot be stored does not prevent others from being stored; throws if none can.
    private func take(_ states: [MatchScore], from source: MatchSource) async throws -> TakenAnswer {
        var taken = TakenAnswer()
        var errors: [any Error] = []
        for state in states {
            do {
                try state.checkClock(now: now())
                let receipt = try await store.accept(state, from: source, now: now())
                if receipt.isConfirmed { taken.confirmed.insert(state.matchId) }
                switch receipt.result {
                case .accepted: taken.hasChanged = true
                case .ignored: taken.ignored.append(state)
                case .unchanged, .stale: break
                }
            } catch let over as MatchIsOver {
                logger.warning("a score feed reports play after the end of a match", metadata: ["why": "\(over)"])
            } catch let error as PostgresError where error.isUnavailable {
                // The others would wait in vain, one after another.
                throw error
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                errors.append(error)
                logger.warning(
                    "a match of a score feed cannot be used",
                    metadata: ["feed": "\(source.url ?? "")", "matchId": "\(state.matchId)", "why": "\(error)"]
                )
            }
        }
        if let first = errors.first, errors.count == states.count { throw first }
        taken.isComplete = errors.isEmpty
        return taken
    }
}
