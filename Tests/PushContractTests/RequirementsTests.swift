import Foundation
import Testing

/// `docs/requirements.md` against the checklist's ids and the tests that exist.
@Suite("Requirements")
struct RequirementsTests {
    private struct Line {
        var id: String
        var kind: String
        var shownBy: String

        var titles: [String] { shownBy.matches(of: /“([^”]+)”/).map { String($0.1).replacing("\\|", with: "|") } }
        var isOpen: Bool { shownBy.hasPrefix("open:") }
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func lines() throws -> [Line] {
        let text = try String(contentsOf: root.appendingPathComponent("docs/requirements.md"), encoding: .utf8)
        return text.split(separator: "\n").compactMap { row in
            let cells = row.components(separatedBy: " | ")
            guard cells.count == 4, cells[0].hasPrefix("| "), cells[0] != "| id" else { return nil }
            return Line(id: String(cells[0].dropFirst(2)), kind: cells[2], shownBy: String(cells[3].dropLast(2)))
        }
    }

    /// Every id of the checklist.
    private static let ids: [String] = {
        func numbered(_ prefix: String, _ count: Int, _ width: Int) -> [String] {
            (1...count).map { prefix + String(repeating: "0", count: max(0, width - String($0).count)) + String($0) }
        }
        let startToken = [4, 4, 4, 5, 4, 4].enumerated().flatMap { group, count in (1...count).map { "P-\(group + 1).\($0)" } }
        return numbered("D-", 22, 2) + numbered("G-", 8, 2) + numbered("A", 6, 1) + numbered("T-", 38, 2) + numbered("L-", 28, 2)
            + startToken
            + ["P-G"]
    }()

    @Test("every requirement of the checklist has one line")
    func complete() throws {
        #expect(try Self.lines().map(\.id).sorted() == Self.ids.sorted())
    }

    @Test("every test that a line names exists")
    func testsExist() throws {
        var sources = ""
        let tests = Self.root.appendingPathComponent("Tests")
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            if file.pathExtension == "swift" { sources += try String(contentsOf: file, encoding: .utf8) }
        }
        for line in try Self.lines() {
            #expect(line.isOpen || !line.titles.isEmpty, "\(line.id) names no test")
            for title in line.titles { #expect(sources.contains("\"\(title)\""), "\(line.id): no test is called “\(title)”") }
        }
    }

    @Test("what no test shows yet is said in words")
    func open() throws {
        for line in try Self.lines() where line.isOpen { #expect(line.shownBy.count > "open: no".count, "\(line.id)") }
    }
}
