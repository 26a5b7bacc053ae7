import Foundation
import Testing

@Suite("The test plan of alerting")
struct TestPlanTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Everything in quotation marks in the sources of all tests.
    private static func sources() throws -> String {
        let tests = root.appending(path: "Tests").path(percentEncoded: false)
        let names = FileManager.default.enumerator(atPath: tests)?.compactMap { $0 as? String }.filter { $0.hasSuffix("Tests.swift") } ?? []
        return try names.filter { !$0.hasSuffix("TestPlanTests.swift") }
            .map { try String(contentsOfFile: tests + "/" + $0, encoding: .utf8) }.joined()
    }

    @Test("each row of the plan names tests that exist")
    func names() throws {
        let plan = try String(contentsOf: Self.root.appending(path: "docs/alert-test-plan.md"), encoding: .utf8)
        let rows = plan.split(separator: "\n").filter { $0.wholeMatch(of: /\| \d+ \|.*/) != nil }
        #expect(rows.count == 18)
        let sources = try Self.sources()
        let beyond = plan.split(separator: "## Beyond the eighteen").last?.split(separator: "\n").filter { $0.contains("“") } ?? []
        #expect(beyond.count >= 6)
        for row in rows + beyond {
            let named = row.matches(of: /“([^”]+)”/).map { String($0.1) }
            #expect(!named.isEmpty || row.contains("none yet"), "\(row)")
            for name in named { #expect(sources.contains("\"\(name)\""), "no test is called: \(name)") }
        }
    }
}
