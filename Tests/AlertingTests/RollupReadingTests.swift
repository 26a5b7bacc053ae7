import AlertRules
import Alerting
import Attempts
import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Reading the rollups")
struct RollupReadingTests {
    private func text(_ rows: [RollupCounts], from start: Int64) -> [String] {
        rows.map { "\($0.period - start) \($0.values.joined(separator: ",")): \($0.bad) of \($0.attempts)" }.sorted()
    }

    @Test("by minute, hour and day, by the values of any columns; filters of every kind; a value that no column has matches nothing")
    func periods() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            let start = Traffic.start
            try await traffic.add(start, attempts: 10, bad: 1)
            try await traffic.add(start, attempts: 20, bad: 2, app: "other")
            try await traffic.add(start + 1, attempts: 30, bad: 3, reason: "network", provider: "apns", platform: "ios")
            try await traffic.add(start + 60, attempts: 40, bad: 4)
            let (from, to) = (start.timestamp, (start + 120).timestamp)
            let errors = RollupSelection(reasons: ["provider_5xx"])
            let minutes = try await RollupStore.minutes(errors, by: [.provider], from: from, to: to, on: pool)
            #expect(text(minutes, from: start.index) == ["0 fcm: 3 of 30", "1 apns: 0 of 30", "60 fcm: 4 of 40"])
            let hours = try await RollupStore.hours(errors, by: [.platform, .app], from: from, to: to, on: pool)
            #expect(
                text(hours, from: start.index / 60) == [
                    "0 android,com.example.app: 1 of 10", "0 android,other: 2 of 20", "0 ios,com.example.app: 0 of 30",
                    "1 android,com.example.app: 4 of 40",
                ]
            )
            let excluded = [(from: (start + 1).timestamp, to: (start + 2).timestamp)]
            let kept = try await RollupStore.hours(errors, by: [], from: from, to: to, excluding: excluded, on: pool)
            #expect(text(kept, from: start.index / 60) == ["0 : 3 of 30", "1 : 4 of 40"])
            func sum(_ allowed: [RollupDimension: [String]]) async throws -> Int64 {
                try await RollupStore.hours(RollupSelection(allowed: allowed, reasons: []), by: [], from: from, to: to, on: pool).reduce(0)
                {
                    $0 + $1.attempts
                }
            }
            #expect(try await sum([.provider: ["fcm"], .eventType: ["send", "register"]]) == 70)
            #expect(try await sum([.app: ["other"], .platform: ["android", "ios"]]) == 20)
            #expect(try await sum([.provider: ["carrier pigeon"]]) == 0)
            #expect(try await sum([.provider: ["carrier pigeon", "apns"]]) == 30)
        }
    }
}
