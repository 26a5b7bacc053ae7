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
            let answer = await reader.read(send)
            let (outcome, ignored) = try await outcome(of: answer, reader)
            if outcome == .changed || outcome == .same || outcome == .over { reader.confirm(ignored: ignored) }
            return outcome
        } catch {
            logger.warning("a score feed could not be taken in", metadata: ["error": "\(error)"])
            MatchMetrics.count(poll: "error")
            return .failed(retryAfter: nil)
        }
    }

    private func outcome(
        of answer: FeedReader.FetchResult,
        _ reader: FeedReader
    ) async throws -> (outcome: FeedPollInterval.Outcome, ignored: [MatchScore]) {
        let source = reader.source
        switch answer {
        case .notModified:
            try await store.confirm(feed: source.url, now: now())
            let (hasChanged, ignored) = try await take(reader.ignored, from: source)
            MatchMetrics.count(poll: hasChanged ? "changed" : "notModified")
            return (hasChanged ? .changed : .same, ignored)
        case .failed(let why, let retryAfter):
            logger.warning("a score feed does not answer as it should", metadata: ["feed": "\(source.url ?? "")", "why": "\(why)"])
            MatchMetrics.count(poll: "failed")
            return (.failed(retryAfter: retryAfter), reader.ignored)
        case .states(let states, let faults):
            for fault in faults {
                logger.warning("a match of a score feed cannot be used", metadata: ["feed": "\(source.url ?? "")", "why": "\(fault)"])
            }
            let (hasChanged, ignored) = try await take(states, from: source)
            MatchMetrics.count(poll: hasChanged ? "changed" : "same")
            if faults.isEmpty, !states.isEmpty, states.allSatisfy(\.phase.isFinal) { return (.over, ignored) }
            return (hasChanged ? .changed : .same, ignored)
        }
    }

    /// Whether anything was new, and what was not heard.
    private func take(_ states: [MatchScore], from source: MatchSource) async throws -> (hasChanged: Bool, ignored: [MatchScore]) {
        var hasChanged = false
        var ignored: [MatchScore] = []
        for state in states {
            do {
                switch try await store.accept(state, from: source, now: now()).result {
                case .accepted: hasChanged = true
                case .ignored: ignored.append(state)
                case .unchanged, .stale: break
                }
            } catch let over as MatchIsOver {
                logger.warning("a score feed goes on after the end", metadata: ["why": "\(over)"])
            }
        }
        return (hasChanged, ignored)
    }
}
