import Foundation
import Postgres

/// A query of sql/queries, filled in as psql would.
struct CookbookQuery {
    let name: String
    let text: String

    init(_ name: String) throws {
        self.name = name
        text = try String(contentsOf: SQLFiles.queries.appendingPathComponent(name + ".sql"), encoding: .utf8)
    }

    static func all() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: SQLFiles.queries.path)
            .filter { $0.hasSuffix(".sql") }.map { String($0.dropLast(4)) }.sorted()
    }

    /// The names that stand as `:'name'`.
    var parameters: Set<String> { Set(text.matches(of: /:'([A-Za-z]+)'/).map { String($0.1) }) }

    var header: [Substring] { text.split(separator: "\n").prefix { $0.hasPrefix("--") } }

    /// The statement alone, with each `:'name'` replaced by the quoted value.
    func filled(_ values: [String: String]) -> String {
        var sql = text.split(separator: "\n").filter { !$0.hasPrefix("--") }.joined(separator: "\n")
        for (name, value) in values { sql = sql.replacing(":'\(name)'", with: "'" + value.replacing("'", with: "''") + "'") }
        return String(sql.prefix { $0 != ";" })
    }

    /// Its rows as PostgreSQL writes records: `(2026-03-10,apns,3)`. OFFSET keeps their order where tables are distributed.
    func rows(_ values: [String: String], on session: some PostgresSession) async throws -> [String] {
        try await session.query(Query(text: "SELECT answer::text FROM (\(filled(values)) OFFSET 0) AS answer")).map {
            try $0.decode(String.self)
        }
    }
}
