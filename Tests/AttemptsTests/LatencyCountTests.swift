import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Counting latencies")
struct LatencyCountTests {
    @Test("a bucket holds its bound and what is above the one before; the column's comment lists the bounds")
    func bounds() async throws {
        let bounds = LatencyBuckets.bounds
        #expect(bounds == bounds.sorted() && Set(bounds).count == 20)
        #expect(LatencyBuckets.bound(of: 0) == 1 && LatencyBuckets.bound(of: .max) == .max)
        for (bound, next) in zip(bounds, bounds.dropFirst()) {
            #expect(LatencyBuckets.bound(of: bound) == bound && LatencyBuckets.bound(of: bound + 1) == next)
        }
        try await withDatabase { pool in
            let comment = try await pool.query("SELECT col_description('attemptLatencies'::regclass, 4)")[0].decode(String.self)
            #expect(comment.hasSuffix(" bucket: \(bounds.map(String.init).joined(separator: ", "))."))
        }
    }

    private func attempt(_ id: Int, _ latencyMs: Int32?, status: AttemptStatus = .sent, app: String? = "a") -> Attempt {
        var attempt = Sample.attempt("\(id)", status: status)
        attempt.latencyMs = latencyMs
        attempt.app = app
        return attempt
    }

    private func counted(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query(
            """
            SELECT concat_ws(' ', provider, '<' || app || '>', upToMs, sum(attempts)) FROM attemptLatencies
            GROUP BY provider, app, upToMs HAVING sum(attempts) <> 0 ORDER BY app, upToMs
            """
        ).map { try $0.decode(String.self) }
    }

    @Test("attempts with a latency are counted once each, whether reported again, in one batch or in many", arguments: [1, 3, 40])
    func once(size: Int) async throws {
        try await withAttempts { store in
            let latencies: [Int32?] = [nil, 0, 1, 2, 3, 499, 500, 501, 2000, 2001, 60_000, 60_001, .max]
            let attempts = latencies.enumerated().map { attempt($0, $1) } + [attempt(100, 7, app: nil)]
            for _ in 0..<2 {
                for start in stride(from: 0, to: attempts.count, by: size) {
                    _ = try await store.write(Array(attempts[start..<min(start + size, attempts.count)]), slot: Int16(start % 2))
                }
            }
            let expected = [
                "apns <> 10 1", "apns <a> 1 2", "apns <a> 2 1", "apns <a> 5 1", "apns <a> 500 2", "apns <a> 700 1", "apns <a> 2000 1",
                "apns <a> 3000 1", "apns <a> 60000 1", "apns <a> 2147483647 2",
            ]
            #expect(try await counted(store.pool) == expected)
            try await store.expectRollupsEqualRecount(total: attempts.count)
        }
    }

    @Test("a later status counts where its latency is: from none, to another bucket, to another app")
    func advances() async throws {
        try await withAttempts { store in
            let queued = [attempt(1, nil, status: .queued), attempt(2, 300, status: .queued), attempt(3, 30, status: .queued)]
            _ = try await store.write(queued, slot: 1)
            #expect(try await counted(store.pool) == ["apns <a> 50 1", "apns <a> 300 1"])
            _ = try await store.write([attempt(1, 90), attempt(2, 3000), attempt(3, 30, app: "b")], slot: 2)
            #expect(try await counted(store.pool) == ["apns <a> 100 1", "apns <a> 3000 1", "apns <b> 50 1"])
            try await store.expectRollupsEqualRecount(total: 3)
        }
    }

    @Test("without a place for the latencies nothing is stored; without latencies none is needed")
    func oneTransaction() async throws {
        try await withAttempts { store in
            try await store.pool.execute("DROP TABLE attemptLatencies_202603")
            let error = await #expect(throws: PostgresError.self) { try await store.write([attempt(1, 5)]) }
            #expect(error?.isMissingPartition == true)
            #expect(try await store.pool.query("SELECT count(*) FROM notificationDeliveryAttempts")[0].decode(Int.self) == 0)
            #expect(try await store.write([attempt(2, nil)]) == [.accepted])
            try await store.maintenance.ensurePartitions(forDays: [Sample.now.day])
            #expect(try await store.write([attempt(1, 5)]) == [.accepted])
        }
    }
}
