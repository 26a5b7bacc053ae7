import Synchronization

/// Whether the process should get traffic: named checks, and where in its life it is.
///
/// Not ready until `markStarted()`, nor after `markDraining()`, nor while a required check fails. Other checks that fail make it
/// degraded, which is still ready: a broken rule file must not take ingestion out of service. Safe to share.
package final class Health: Sendable {
    /// Looks at one thing. Throws or returns a failing result when it is not well; `detail` must be fit for anybody's eyes.
    package typealias Check = @Sendable () async throws -> CheckResult

    package struct CheckResult: Sendable, Equatable {
        package var isHealthy: Bool
        package var detail: String?

        package static let healthy = CheckResult(isHealthy: true)
        package static func failing(_ detail: String) -> CheckResult { CheckResult(isHealthy: false, detail: detail) }
    }

    enum Phase { case starting, started, draining }

    private typealias Results = [CheckResult]

    private struct State {
        var phase = Phase.starting
        var checks: [(name: String, isRequired: Bool, check: Check)] = []
        var latest: (results: Results, at: ContinuousClock.Instant)?
        var isRunning = false
        /// Who asked while the checks ran; they get the same results, or nil when those were cancelled.
        var waiting: [CheckedContinuation<Results?, Never>] = []
    }

    private let state = Mutex(State())
    private let clock: any Clock<Duration>
    private let timeout: Duration
    private let freshFor: Duration

    /// - Parameters:
    ///   - timeout: how long one check may take before it counts as failing. Checks have to observe cancellation.
    ///   - freshFor: how long results are good for. Anybody may ask, and checks take connections to the database.
    package init(timeout: Duration = .seconds(2), freshFor: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()) {
        self.timeout = timeout
        self.freshFor = freshFor
        self.clock = clock
    }

    /// - Parameter isRequired: whether the process is of no use while the check fails.
    package func addCheck(_ name: String, isRequired: Bool = true, _ check: @escaping Check) {
        state.withLock { $0.checks.append((name, isRequired, check)) }
    }

    package func markStarted() { state.withLock { if $0.phase == .starting { $0.phase = .started } } }

    /// From now on not ready, for good: load balancers stop sending while requests in flight end.
    package func markDraining() { state.withLock { $0.phase = .draining } }

    /// Runs all checks at the same time, unless they run or have just run for somebody else.
    package func readiness() async -> Readiness {
        let results = await results()
        let (phase, checks) = state.withLock { ($0.phase, $0.checks) }
        return Readiness(
            phase: phase,
            checks: checks.enumerated().map { index, entry in
                (entry.name, entry.isRequired, index < results.count ? results[index] : .failing("not checked"))
            }
        )
    }

    private func results() async -> Results {
        while true {
            let known = state.withLock { state -> Results? in
                state.latest.flatMap { ContinuousClock.now - $0.at < freshFor ? $0.results : nil }
            }
            if let known { return known }
            let checks = state.withLock { state -> [Check]? in
                guard !state.isRunning else { return nil }
                state.isRunning = true
                return state.checks.map(\.check)
            }
            if let checks { return await results(of: checks) }
            if let others = await resultsOfOther() { return others }
        }
    }

    private func results(of checks: [Check]) async -> Results {
        let found = await withTaskGroup(of: (Int, CheckResult).self) { group in
            for (index, check) in checks.enumerated() { group.addTask { (index, await self.run(check)) } }
            return await group.reduce(into: [Int: CheckResult]()) { $0[$1.0] = $1.1 }
        }
        let results = checks.indices.map { found[$0] ?? .failing("not checked") }
        // Who asked may have gone, which says nothing about the checks.
        let isCancelled = Task.isCancelled
        let waiting = state.withLock { state in
            if !isCancelled { state.latest = (results, .now) }
            state.isRunning = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: isCancelled ? nil : results) }
        return results
    }

    /// Nil: ask again.
    private func resultsOfOther() async -> Results? {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.isRunning else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume(returning: nil) }
        }
    }

    private func run(_ check: @escaping Check) async -> CheckResult {
        await withTaskGroup(of: CheckResult?.self) { group in
            group.addTask { (try? await check()) ?? .failing("failing") }
            group.addTask { [clock, timeout] in
                (try? await clock.sleep(for: timeout)).map { .failing("no answer in time") }
            }
            defer { group.cancelAll() }
            for await result in group { if let result { return result } }
            return .failing("cancelled")
        }
    }
}
