import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct HealthTests {
    private struct Broken: Error {}

    @Test("ready only when started, not draining and every check is well")
    func phases() async {
        let health = Health()
        health.addCheck("database") { .healthy }
        #expect(await health.readiness().status == "starting")
        health.markStarted()
        #expect(await health.readiness().isReady)
        #expect(health.markDraining())
        health.markStarted()
        #expect(await health.readiness().status == "draining")
        #expect(!Health().markDraining(), "nobody was ever sent here")
    }

    @Test("a failing check is named, in the order of the checks")
    func failing() async {
        let health = Health()
        health.addCheck("database") { .failing("no connection") }
        health.addCheck("migrations") { .healthy }
        health.addCheck("rules") { throw Broken() }
        health.markStarted()
        let readiness = await health.readiness()
        #expect(readiness.status == "failing")
        #expect(
            readiness.checks == [
                .init(name: "database", status: "failing", detail: "no connection"), .init(name: "migrations", status: "ok", detail: nil),
                .init(name: "rules", status: "failing", detail: "failing"),
            ]
        )
    }

    @Test("a failing check that is not required leaves the process ready, and says so")
    func degraded() async {
        let health = Health()
        health.addCheck("database") { .healthy }
        health.addCheck("rules", isRequired: false) { .failing("a rule file is broken") }
        health.markStarted()
        let readiness = await health.readiness()
        #expect(readiness.status == "degraded" && readiness.isReady)
        #expect(readiness.checks.last?.status == "failing")
    }

    @Test("a check that hangs is failing once its time is up")
    func hanging() async {
        let health = Health(clock: ElapsedClock())
        health.addCheck("database") {
            try await Task.sleep(for: .seconds(3_600))
            return .healthy
        }
        health.markStarted()
        #expect(await health.readiness().checks.first?.detail == "no answer in time")
    }

    @Test("who asks while checks run is answered with their results")
    func together() async {
        let health = Health(timeout: .seconds(60))
        let asked = Mutex(0)
        let runs = Mutex(0)
        health.addCheck("database") {
            runs.withLock { $0 += 1 }
            try await eventually("all have asked") { asked.withLock { $0 } == 20 }
            return .healthy
        }
        health.markStarted()
        let ask: @Sendable () async -> String = {
            asked.withLock { $0 += 1 }
            return await health.readiness().status
        }
        await withTaskGroup(of: String.self) { group in
            for _ in 1...20 { group.addTask { await ask() } }
            for await status in group { #expect(status == "ready") }
        }
        // Who counted as asking last may have come after the first run.
        #expect(runs.withLock { $0 } <= 2)
    }
}
