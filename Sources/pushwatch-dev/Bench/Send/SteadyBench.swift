import CommandLineKit
import Delivery
import Postgres
import PushContract
import ServiceKit

/// `pushwatch-dev bench drain --waiting`: sends are stored as fast as they are sent, while so many wait in the queue all the time.
struct SteadyBench {
    struct Report: Encodable {
        var waiting: Int
        var rate: BenchQueue.Rate

        var text: String {
            "steady, with \(waiting) waiting: \(Int(rate.perSecond)) a second stored, sent and recorded"
                + (rate.perCoreSecond.map { ", \(Int($0)) a core-second of sender and database" } ?? "")
        }
    }

    /// Sends that are stored at once.
    static let batch = 200
    private static let warmUp = Duration.seconds(5)
    private static let measured = Duration.seconds(30)

    let queue: BenchQueue
    let waiting: Int

    func run() async throws -> Report {
        let pool = try await queue.migratedPool()
        defer { pool.close() }
        try await queue.empty(pool)
        let cipher = TokenCipher(.random())
        let rate = try await queue.sending(pool, cipher) { provider, use in
            try await withThrowingTaskGroup(of: Void.self) { adding in
                adding.addTask { try await add(queue.store(pool, cipher), provider) }
                Terminal.note("warming up for \(Self.warmUp)")
                try await Task.sleep(for: Self.warmUp)
                Terminal.note("measuring for \(Self.measured)")
                let (start, before) = (try use(), provider.count)
                try await Task.sleep(for: Self.measured)
                let (end, after) = (try use(), provider.count)
                adding.cancelAll()
                return BenchQueue.Rate(of: after - before, from: start, to: end)
            }
        }
        return Report(waiting: waiting, rate: rate)
    }

    /// Stores sends where fewer wait than are to, until it is cancelled.
    private func add(_ store: SendStore, _ provider: BenchQueue.CountingProvider) async throws {
        var stored = 0
        while !Task.isCancelled {
            guard stored + Self.batch <= provider.count + waiting else {
                try? await Task.sleep(for: .milliseconds(1))
                continue
            }
            let now = Timestamp.now()
            let requests = try (stored..<stored + Self.batch).map { number in
                try SendRequest(
                    [
                        "token": .string(SendLoad.token), "provider": "apns", "app": .string(SendLoad.app),
                        "uid": .string("user-\(number)"),
                        "title": .string(SendLoad.title), "body": .string(SendLoad.body),
                    ],
                    now: now
                )
            }
            _ = try await store.enqueue(requests, requestId: ULID.make(at: now), author: "bench", now: now) { _, _ in nil }
            stored += Self.batch
        }
    }
}
