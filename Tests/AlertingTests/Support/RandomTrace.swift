import AlertRules
import Alerting
import Foundation
import Postgres
import PushContract
import ServiceKit

/// A small generator with a seed, so that a failure can be repeated.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

/// Healthy, failing and silent stretches of random length.
enum RandomTrace {
    struct Row {
        /// `bad` failed with provider_5xx.
        var counts: MinuteCounts
        /// Deactivated with token_not_registered.
        var dead: Int64
    }

    static func minutes(_ random: inout Seeded, first: Minute, count: Int) -> [Row] {
        var rows: [Row] = []
        while rows.count < count {
            let volume = [0, 2, 10, 40, 120].randomElement(using: &random) ?? 0
            let failing = [0, 0, 1, 4, 7, 30, 60].randomElement(using: &random) ?? 0
            let dead = [0, 1, 1, 2, 8, 25].randomElement(using: &random) ?? 0
            for _ in 0..<Int.random(in: 3...90, using: &random) {
                let attempts = volume == 0 ? 0 : Int.random(in: 0...2 * volume, using: &random)
                let (bad, gone) = (attempts * failing / 100, (attempts * dead + 50) / 100)
                let counts = MinuteCounts(minute: first + rows.count, attempts: Int64(attempts), bad: Int64(bad))
                rows.append(Row(counts: counts, dead: Int64(min(gone, attempts - bad))))
            }
        }
        return Array(rows.prefix(count))
    }
}

extension Traffic {
    /// Many minutes in one statement.
    func add(_ rows: [RandomTrace.Row], provider: String, pushType: String) async throws {
        let kinds: [(status: String, reason: String, count: (RandomTrace.Row) -> Int64)] = [
            ("sent", "", { $0.counts.counts.attempts - $0.counts.counts.bad - $0.dead }),
            ("failed", "provider_5xx", { $0.counts.counts.bad }),
            ("deactivated", "token_not_registered", { $0.dead }),
        ]
        for kind in kinds {
            try await pool.execute(
                """
                INSERT INTO attemptRollups (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType,
                                            writerSlot, attempts, latencyMsSum, latencyCount)
                SELECT minute, \(provider), \(provider == "apns" ? "ios" : "android"), 'send', \(kind.status), \(kind.reason),
                       'com.example.app', 'production', \(pushType), 1, attempts, 0, 0
                FROM unnest(\(rows.map(\.counts.minute.timestamp)), \(rows.map(kind.count))) AS r (minute, attempts)
                WHERE attempts > 0
                """
            )
        }
    }
}

/// Evidence as it is stored.
enum JSONParser {
    static func text(_ evidence: Evidence) throws -> String { String(decoding: try JSONEncoder().encode(evidence), as: UTF8.self) }

    static func evidence(_ text: String) throws -> Evidence { try JSONDecoder().decode(Evidence.self, from: Data(text.utf8)) }
}
