import Postgres
import TestDatabase
import Testing

@Suite("Versions of PostgreSQL")
struct ServerVersionTests {
    @Test(
        "15 to 18 are supported, an older one is refused and a newer one mentioned, each with its number",
        arguments: [
            (90_624, "old"), (140_020, "old"), (150_000, "supported"), (150_014, "supported"), (160_003, "supported"),
            (170_000, "supported"),
            (180_001, "supported"), (190_000, "newer"), (200_002, "newer"),
        ]
    )
    func verdicts(number: Int, expected: String) {
        switch ServerVersion.verdict(on: number) {
        case .supported: #expect(expected == "supported")
        case .tooOld(let sentence): #expect(expected == "old" && sentence.contains("PostgreSQL \(number / 10_000);"))
        case .newer(let sentence): #expect(expected == "newer" && sentence.contains("PostgreSQL \(number / 10_000);"))
        }
    }

    @Test("the server of these tests says its version")
    func ours() async throws {
        try await withDatabaseURL(migrated: false) { database in
            let verdict = try await ServerVersion.verdict(at: PostgresConfiguration(url: database))
            #expect(verdict == .supported)
        }
    }
}
