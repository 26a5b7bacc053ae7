import ServiceKit
import Synchronization

/// Whether the process should get traffic: named checks, and where in its life it is.
///
/// Not ready until `markStarted()`, nor after `markDraining()`, nor while a required check fails. Other checks that fail make it
/// degraded, which is still ready: a broken rule file must not take ingestion out of service. Safe to share.
package final class Health: Sendable {
    /// Looks at one thing. Throws or returns a failing result when it is not well; anybody may see `detail`.
    package typealias Check = @Sendable () async throws -> CheckResult

    package struct CheckResult: Sendable, Equatable {
        package var isHealthy: Bool
        package var detail: String?

        package static let healthy = CheckResult(isHealthy: true)
        package static func failing(_ detail: String) -> CheckResult { CheckResult(isHealthy: false, detail: detail) }
    }

    enum Phase { case starting, started, draining }

    private struct State {
        var phase = Phase.starting
        var checks: [(name: String, isRequired: Bool, check: Check)] = []
    }

    private let state = Mutex(State())
    private let clock: any Clock<Duration>
    private let timeout: Duration
    /// Anybody may ask, and checks take connections to the database.
    private let results = SharedWork<[CheckResult]>()

    /// - Parameter timeout: how long one check may take before it counts as failing. Checks have to observe cancellation.
    package init(timeout: Duration = .seconds(2), clock: any Clock<Duration> = ContinuousClock()) {
        self.timeout = timeout
        self.clock = clock
    }

    /// - Parameter isRequired: whether the process is of no use while the check fails.
    package func addCheck(_ name: String, isRequired: Bool = true, _ check: @escaping Check) {
        state.withLock { $0.checks.append((name, isRequired, check)) }
    }

    package func markStarted() { state.withLock { if $0.phase == .starting { $0.phase = .started } } }

    /// From now on not ready, for good: load balancers stop sending while requests in flight end. False where it had not started, so that
    /// none has sent anything.
    @discardableResult
    package func markDraining() -> Bool {
        state.withLock { state in
            defer { state.phase = .draining }
            return state.phase != .starting
        }
    }

    /// Runs all checks at the same time, unless they run for somebody else.
    package func readiness() async -> Readiness {
        let found = (try? await results.value { try await runAll() }) ?? []
        let (phase, checks) = state.withLock { ($0.phase, $0.checks) }
        return Readiness(
            phase: phase,
            checks: checks.enumerated().map { index, entry in
                (entry.name, entry.isRequired, index < found.count ? found[index] : .failing("not checked"))
            }
        )
    }

    private func runAll() async throws -> [CheckResult] {
        let checks = state.withLock { $0.checks }
        let results = await withTaskGroup(of: (Int, CheckResult).self) { group in
            for (index, entry) in checks.enumerated() { group.addTask { (index, await self.run(entry.check)) } }
            return await group.reduce(into: [Int: CheckResult]()) { $0[$1.0] = $1.1 }
        }
        // The caller has gone, which says nothing about the checks.
        try Task.checkCancellation()
        return checks.indices.map { results[$0] ?? .failing("not checked") }
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
