import Foundation
import Testing

@testable import CommandLineKit

@Suite("Help texts of metrics")
struct MetricHelpTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("every metric that the sources declare has one, and no other")
    func declared() throws {
        let files = FileManager.default.enumerator(atPath: Self.root.appendingPathComponent("Sources").path)?.compactMap { $0 as? String }
        var labels: Set<String> = []
        for file in files ?? [] where file.hasSuffix(".swift") {
            for match in try text("Sources/" + file).matches(of: /label: "(pushwatch_[a-z0-9_]+)"/) { labels.insert(String(match.1)) }
        }
        #expect(labels.count > 80)
        // Counters get _total, timers _seconds.
        let names = labels.map { label in ["", "_total", "_seconds"].map { label + $0 }.first { MetricHelp.texts[$0] != nil } ?? label }
        #expect(Set(names).symmetricDifference(MetricHelp.texts.keys).sorted() == [])
    }

    @Test("every metric that has one is in the documents, and those of the documents' tables have one")
    func documented() throws {
        let documents = try text("docs/operations.md") + text("docs/live-activities.md")
        let process = Set(documents.matches(of: /`(process_[a-z_]+)`/).map { String($0.1) })
        #expect(
            process == ["process_resident_memory_bytes", "process_open_fds", "process_cpu_seconds_total", "process_start_time_seconds"]
        )
        for name in MetricHelp.texts.keys { #expect(documents.contains("`\(name)`"), "\(name)") }
        for line in documents.split(separator: "\n") where line.hasPrefix("| `pushwatch_") {
            for match in line.split(separator: "|")[0].matches(of: /`(pushwatch_[a-z0-9_]+)`/) {
                let name = String(match.1)
                // Roles of the database have such tables, too.
                guard name.contains(/_(total|seconds|bytes|rows)$/) else { continue }
                #expect(MetricHelp.texts[name] != nil, "\(name)")
            }
        }
    }

    @Test("each is a sentence that says more than the name")
    func sentences() {
        for (name, help) in MetricHelp.texts {
            #expect(help.hasSuffix(".") && help.lowercased() != name.split(separator: "_").joined(separator: " ") + ".", "\(name)")
        }
    }
}
