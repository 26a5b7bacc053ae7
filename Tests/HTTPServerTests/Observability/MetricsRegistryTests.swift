import CoreMetrics
import Foundation
import PushContract
import Testing

@testable import HTTPServer

@Suite struct MetricsRegistryTests {
    private func filled() -> MetricsRegistry {
        let registry = MetricsRegistry()
        registry.describe("pushwatch.http.requests", "Requests by route.\nSecond line with \\.")
        registry.makeCounter(label: "pushwatch.http.requests", dimensions: [("status", "2xx"), ("route", "/a\"b\\c\nd")]).increment(by: 3)
        registry.makeCounter(label: "pushwatch.http.requests", dimensions: [("route", "/"), ("status", "2xx")]).increment(by: 1)
        registry.makeCounter(label: "pushwatch.http.requests", dimensions: [("status", "2xx"), ("route", "/")]).increment(by: 1)
        registry.makeFloatingPointCounter(label: "pushwatch_cost", dimensions: []).increment(by: 0.5)
        let meter = registry.makeMeter(label: "queueDepth", dimensions: [])
        meter.set(Int64(7))
        meter.decrement(by: 1.5)
        registry.describe("pushwatch_lag", "Lag.", buckets: [1, 2.5])
        let timer = registry.makeTimer(label: "pushwatch_lag", dimensions: [("le", "x")])
        for seconds in [0.5, 1, 2, 9] { timer.recordNanoseconds(Int64(seconds * 1e9)) }
        registry.makeRecorder(label: "batch_rows", dimensions: [], aggregate: true).record(Int64(500))
        registry.makeRecorder(label: "pool_size", dimensions: [], aggregate: false).record(Int64(8))
        registry.observe("backlog", "Waiting sends.") { 42 }
        registry.observe("absent", "Never there.") { nil }
        ProcessMetrics.register(in: registry, startedAt: Date(timeIntervalSince1970: 1_000))
        return registry
    }

    @Test("an age is that of the moment of asking, and 0 without anything to be old")
    func age() throws {
        let registry = MetricsRegistry()
        let age = registry.age("pushwatch_example_lag_seconds", [("app", "a")])
        let now = Timestamp.now()
        age.record(since: now - .seconds(30))
        #expect(age.value(now: now) == 30)
        #expect(age.value(now: now + .seconds(60)) == 90)
        let line = try #require(registry.exposition().split(separator: "\n").first { $0.hasPrefix("pushwatch_example_lag_seconds{") })
        #expect(try #require(line.split(separator: " ").last.flatMap { Double($0) }) >= 30)
        age.record(since: nil)
        #expect(age.value(now: now) == 0)
    }

    @Test("the text holds each family once, sorted, with escaped labels")
    func text() {
        let text = filled().exposition()
        #expect(
            text.contains(
                #"""
                # HELP pushwatch_http_requests_total Requests by route.\nSecond line with \\.
                # TYPE pushwatch_http_requests_total counter
                pushwatch_http_requests_total{route="/",status="2xx"} 2
                pushwatch_http_requests_total{route="/a\"b\\c\nd",status="2xx"} 3

                """#
            )
        )
        #expect(
            text.contains(
                """
                # TYPE pushwatch_lag_seconds histogram
                pushwatch_lag_seconds_bucket{exported_le="x",le="1"} 2
                pushwatch_lag_seconds_bucket{exported_le="x",le="2.5"} 3
                pushwatch_lag_seconds_bucket{exported_le="x",le="+Inf"} 4
                pushwatch_lag_seconds_sum{exported_le="x"} 12.5
                pushwatch_lag_seconds_count{exported_le="x"} 4

                """
            )
        )
        for line in ["pushwatch_cost_total 0.5", "queue_depth 5.5", "pool_size 8", "backlog 42", "batch_rows_bucket{le=\"500\"} 1"] {
            #expect(text.contains("\n\(line)\n"))
        }
        let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE") }
        #expect(types == types.sorted())
        #expect(Set(types).count == types.count)
        #expect(text == text.split(separator: "\n").joined(separator: "\n") + "\n")
    }

    @Test("promtool reports no problem", .enabled(if: Promtool.isInstalled, "promtool is not installed (package prometheus)"))
    func promtool() throws {
        #expect(try Promtool.check(filled().exposition()) == "")
    }

    @Test("a label with endless values stops at the cap, and counting goes on")
    func cap() {
        let registry = MetricsRegistry()
        for number in 0..<2_100 { registry.makeCounter(label: "x", dimensions: [("n", "\(number)")]).increment(by: 1) }
        #expect(registry.exposition().split(separator: "\n").count == 2_002)
    }

    @Test("the same name as another kind does not break the text")
    func clash() {
        let registry = MetricsRegistry()
        registry.makeMeter(label: "x", dimensions: []).set(Int64(1))
        registry.makeRecorder(label: "x", dimensions: [("a", "b")], aggregate: true).record(Int64(1))
        #expect(registry.exposition() == "# HELP x X.\n# TYPE x gauge\nx 1\n")
    }

    @Test(
        "names become snake case",
        arguments: [("a.b-c", "a_b_c"), ("camelCase", "camel_case"), ("9lives", "_9lives"), ("", "_"), ("HTTP", "http"), ("a..b", "a_b")]
    )
    func names(label: String, name: String) {
        #expect(MetricName.sanitized(label) == name)
    }

    @Test(
        "numbers print as Prometheus reads them",
        arguments: [(1, "1"), (0.25, "0.25"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (1e20, "1e+20")]
            as [(Double, String)]
    )
    func numbers(value: Double, text: String) {
        #expect(MetricFamily.format(value) == text)
    }
}
