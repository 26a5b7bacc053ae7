import Foundation
import Testing

/// `docs/security.md` against the tests that exist.
@Suite("The security document")
struct SecurityDocumentTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A section of the claims: an attacker, the rows of their table, and what is not promised.
    private struct Attacker {
        var name: String
        var claims: [(claim: String, titles: [String])]
        var namesLimit: Bool
    }

    private static func attackers() throws -> [Attacker] {
        let text = try String(contentsOf: root.appendingPathComponent("docs/security.md"), encoding: .utf8)
        let claims = text.components(separatedBy: "\n## ").first { $0.hasPrefix("Claims\n") } ?? ""
        return claims.components(separatedBy: "\n### ").dropFirst().map { section in
            let lines = section.components(separatedBy: "\n")
            let rows: [(String, [String])] = lines.compactMap { row in
                let cells = row.components(separatedBy: " | ")
                guard cells.count == 2, cells[0] != "| claim" else { return nil }
                return (String(cells[0].dropFirst(2)), cells[1].matches(of: /“([^”]+)”/).map { String($0.1) })
            }
            return Attacker(name: lines[0], claims: rows, namesLimit: lines.contains { $0.hasPrefix("Not promised: ") })
        }
    }

    @Test("every attacker has promises, and limits of them")
    func attackersHavePromises() throws {
        let attackers = try Self.attackers()
        #expect(attackers.count == 9)
        for attacker in attackers { #expect(!attacker.claims.isEmpty && attacker.namesLimit, "\(attacker.name)") }
    }

    @Test("every claim names tests, and each of them exists")
    func testsExist() throws {
        var sources = ""
        let files = FileManager.default.enumerator(at: Self.root.appendingPathComponent("Tests"), includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            if file.pathExtension == "swift" { sources += try String(contentsOf: file, encoding: .utf8) }
        }
        let claims = try Self.attackers().flatMap(\.claims)
        #expect(claims.count >= 25)
        for claim in claims {
            #expect(!claim.titles.isEmpty, "no test is named for: \(claim.claim)")
            for title in claim.titles { #expect(sources.contains("\"\(title)\""), "\(claim.claim) no test is called “\(title)”") }
        }
    }
}
