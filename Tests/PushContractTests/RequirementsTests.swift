import Foundation
import Testing

/// `docs/requirements.md` against the checklist's ids and the tests that exist.
@Suite("Requirements")
struct RequirementsTests {
    private struct Row {
        var id: String
        var sentence: String
        var verdict: String
        var titles: [String]
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func rows() throws -> [Row] {
        let text = try String(contentsOf: root.appendingPathComponent("docs/requirements.md"), encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| "), !line.hasPrefix("| id ") else { return nil }
            let cells = line.dropFirst(2).components(separatedBy: " | ")
            let titles = cells.last?.matches(of: /“([^”]+)”/).map { String($0.1).replacing("\\|", with: "|") } ?? []
            return Row(id: cells[0], sentence: cells.count == 4 ? cells[1] : "", verdict: cells.count == 4 ? cells[2] : "", titles: titles)
        }
    }

    /// Every id of the checklist. A row that has no line there has an id of its own.
    private static let ids: [String] = {
        func numbered(_ prefix: String, _ count: Int, _ width: Int) -> [String] {
            (1...count).map { prefix + String(repeating: "0", count: max(0, width - String($0).count)) + String($0) }
        }
        let startToken = [4, 4, 4, 5, 4, 4].enumerated().flatMap { group, count in (1...count).map { "P-\(group + 1).\($0)" } }
        return numbered("D-", 22, 2) + numbered("G-", 8, 2) + numbered("A", 6, 1) + numbered("T-", 38, 2) + numbered("L-", 28, 2)
            + startToken
            + ["P-G"]
    }()

    /// How many tests have each title.
    private static func titles() throws -> [String: Int] {
        var titles: [String: Int] = [:]
        let files = FileManager.default.enumerator(at: root.appendingPathComponent("Tests"), includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: /@Test\(\s*"((?:[^"\\]|\\.)*)"/) {
                titles[String(match.1).replacing("\\\"", with: "\""), default: 0] += 1
            }
        }
        return titles
    }

    @Test("every requirement of the checklist has a row, every row a sentence, and no two rows one id")
    func complete() throws {
        let rows = try Self.rows()
        #expect(Set(Self.ids).subtracting(rows.map(\.id)) == [])
        #expect(Dictionary(grouping: rows, by: \.id).filter { $0.value.count > 1 }.keys.sorted() == [])
        #expect(rows.filter { $0.sentence.isEmpty }.map(\.id) == [])
    }

    @Test("every row has a verdict; what differs names a page that exists")
    func verdicts() throws {
        for row in try Self.rows() {
            #expect(["as written", "differs: ", "out of scope: "].contains { row.verdict.hasPrefix($0) }, "\(row.id): \(row.verdict)")
            guard row.verdict.hasPrefix("differs") else { continue }
            let pages = row.verdict.matches(of: /\]\(([^)]+)\)/).map { Self.root.appendingPathComponent("docs/\($0.1)").path }
            #expect(!pages.isEmpty && pages.allSatisfy(FileManager.default.fileExists(atPath:)), "\(row.id): \(row.verdict)")
        }
    }

    @Test("every row names tests, each of them exists once, and none serves more than three rows")
    func testsExist() throws {
        let (rows, titles) = (try Self.rows(), try Self.titles())
        for row in rows {
            #expect(!row.titles.isEmpty || row.verdict.hasPrefix("out of scope"), "\(row.id) names no test")
            for title in row.titles { #expect(titles[title] == 1, "\(row.id): \(titles[title] ?? 0) tests are called “\(title)”") }
        }
        let uses = Dictionary(grouping: rows.flatMap { row in Set(row.titles).map { (title: $0, id: row.id) } }, by: \.title)
        for (title, rows) in uses { #expect(rows.count <= 3, "“\(title)” serves \(rows.map(\.id))") }
    }

    private struct VectorFile: Decodable {
        struct Vector: Decodable { var requires: [String]? }

        var requires: [String]
        var vectors: [Vector]
    }

    @Test("what a vector requires is a row")
    func vectors() throws {
        let ids = Set(try Self.rows().map(\.id))
        let directory = Self.root.appendingPathComponent("Tests/Vectors")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".json") }
        #expect(!names.isEmpty)
        for name in names {
            let file = try JSONDecoder().decode(VectorFile.self, from: Data(contentsOf: directory.appendingPathComponent(name)))
            #expect(Set(file.requires + file.vectors.flatMap { $0.requires ?? [] }).subtracting(ids) == [], "\(name)")
        }
    }

    /// The titles of tests by `Target.Suite/function`.
    private static func titlesByFunction() throws -> [String: String] {
        var titles: [String: String] = [:]
        let tests = root.appendingPathComponent("Tests")
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let target = file.pathComponents[tests.pathComponents.count]
            var (suite, title) = ("", String?.none)
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /(?:struct|class) (\w+Tests)\b|@Test\(\s*"((?:[^"\\]|\\.)*)"|\bfunc (\w+)\(/) {
                if let name = match.1 { suite = String(name) }
                if let found = match.2 { title = String(found).replacing("\\\"", with: "\"") }
                guard let function = match.3, let found = title else { continue }
                titles["\(target).\(suite)/\(function)"] = found
                title = nil
            }
        }
        return titles
    }

    @Test("every defect that is planted for a row is to be found by one test, which the row names")
    func planted() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("scripts/row-mutants.txt"), encoding: .utf8)
        let planted = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ", maxSplits: 3) }
        let rows = Dictionary(try Self.rows().map { ($0.id, $0.titles) }) { first, _ in first }
        let titles = try Self.titlesByFunction()
        #expect(planted.count > 130)
        for defect in planted {
            let (id, filter) = (String(defect[0]), String(defect[2]).replacing("\\.", with: ".").replacing("WholeService/", with: ""))
            let title = titles[filter]
            #expect(title != nil, "\(id): \(filter) is no test")
            #expect(rows[id]?.contains(title ?? "") == true, "\(id) does not name “\(title ?? "")”")
        }
    }
}
