import Foundation
import Testing

@Suite("The Prometheus example (dashboards/prometheus)")
struct PrometheusExampleTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test(
        "promtool accepts the configuration and the rules, and their tests pass",
        .enabled(if: Promtool.isInstalled, "promtool is not installed (package prometheus)"),
        arguments: [
            ["check", "config", "--syntax-only", "prometheus.yml"], ["check", "rules", "pushwatch.rules.yml"],
            ["test", "rules", "pushwatch.rules.test.yml"],
        ]
    )
    func promtool(_ arguments: [String]) throws {
        let file = PrometheusExampleTests.root.appendingPathComponent("dashboards/prometheus/" + (arguments.last ?? "")).path
        let answer = try Promtool.run(arguments.dropLast() + [file])
        #expect(answer.status == 0, "\(answer.text)")
    }

    @Test("every metric the rules ask for is in the table of docs/operations.md")
    func documentedMetrics() throws {
        let rules = try String(
            contentsOf: PrometheusExampleTests.root.appendingPathComponent("dashboards/prometheus/pushwatch.rules.yml"),
            encoding: .utf8
        )
        let table = try String(contentsOf: PrometheusExampleTests.root.appendingPathComponent("docs/operations.md"), encoding: .utf8)
        let asked = Set(rules.matches(of: /pushwatch_[a-z_]+/).map { String($0.0).replacing(/_bucket$/, with: "") })
        #expect(asked.count >= 7)
        for metric in asked { #expect(table.contains("`\(metric)`"), "\(metric)") }
    }
}
