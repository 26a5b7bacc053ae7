/// The answer of `/health/ready`.
package struct Readiness: Encodable, Sendable {
    package struct Check: Encodable, Sendable, Equatable {
        package var name: String
        package var status: String
        package var detail: String?
    }

    /// "ready", "degraded" (works, but something needs a person), "starting", "draining" or "failing".
    package var status: String
    package var checks: [Check]

    package var isReady: Bool { status == "ready" || status == "degraded" }

    init(phase: Health.Phase, checks: [(name: String, isRequired: Bool, result: Health.CheckResult)]) {
        self.checks = checks.map { Check(name: $0.name, status: $0.result.isHealthy ? "ok" : "failing", detail: $0.result.detail) }
        status =
            switch phase {
            case .starting: "starting"
            case .draining: "draining"
            case .started where checks.contains(where: { $0.isRequired && !$0.result.isHealthy }): "failing"
            case .started: checks.allSatisfy(\.result.isHealthy) ? "ready" : "degraded"
            }
    }
}
