/// The answer of `/health/ready`.
package struct Readiness: Encodable, Sendable {
    package struct Check: Encodable, Sendable, Equatable {
        package var name: String
        package var status: String
        package var detail: String?
    }

    /// "ready", "starting", "draining" or "failing".
    package var status: String
    package var checks: [Check]

    package var isReady: Bool { status == "ready" }

    init(phase: Health.Phase, checks: [(name: String, result: Health.CheckResult)]) {
        self.checks = checks.map { Check(name: $0.name, status: $0.result.isWell ? "ok" : "failing", detail: $0.result.detail) }
        status =
            switch phase {
            case .starting: "starting"
            case .draining: "draining"
            case .started: checks.allSatisfy(\.result.isWell) ? "ready" : "failing"
            }
    }
}
