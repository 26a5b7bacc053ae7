import Foundation
import Testing

/// `docs/security.md` against the tests that exist.
@Suite("The security document")
struct SecurityDocumentTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The rows of the table of claims: the claim, and the titles of tests.
    private static func claims() throws -> [(claim: String, titles: [String])] {
        let text = try String(contentsOf: root.appendingPathComponent("docs/security.md"), encoding: .utf8)
        guard let start = text.range(of: "\n## Claims\n"), let end = text.range(of: "\n## ", range: start.upperBound..<text.endIndex) else {
            return []
        }
        return text[start.upperBound..<end.lowerBound].split(separator: "\n").compactMap { row in
            let cells = row.components(separatedBy: " | ")
            guard cells.count == 3, cells[0] != "| claim" else { return nil }
            return (String(cells[0].dropFirst(2)), cells[2].matches(of: /“([^”]+)”/).map { String($0.1) })
        }
    }

    @Test("every claim names tests, and each of them exists")
    func testsExist() throws {
        var sources = ""
        let files = FileManager.default.enumerator(at: Self.root.appendingPathComponent("Tests"), includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            if file.pathExtension == "swift" { sources += try String(contentsOf: file, encoding: .utf8) }
        }
        let claims = try Self.claims()
        #expect(claims.count >= 25)
        for claim in claims {
            #expect(!claim.titles.isEmpty, "no test is named for: \(claim.claim)")
            for title in claim.titles { #expect(sources.contains("\"\(title)\""), "\(claim.claim) no test is called “\(title)”") }
        }
    }
}
