import Attempts
import Foundation
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Two servers: any split, order, repetition and concurrency")
    struct IdentityPropertyTests {
        /// What two servers answered, summed up.
        private struct Answers: Sendable {
            var accepted = 0
            var total = 0
            var conflicts = 0
        }

        private func withServers(_ body: ([API], String) async throws -> Void) async throws {
            try await withDatabaseURL { database in
                async let first = ServerProcess.start(database: database)
                async let second = ServerProcess.start(database: database)
                let servers = try await [first, second]
                for server in servers { try await server.waitUntilReady() }
                try await body(servers.map(\.api), database)
                for server in servers { #expect(try await server.terminate().code == 0) }
            }
        }

        /// Posts the reports in pieces of random size, by six posters, to both servers, some pieces twice.
        private func post(_ reports: [[String: any Sendable]], seed: UInt64, to servers: [API]) async throws -> Answers {
            var generator = Seeded(seed: seed)
            var pieces: [[[String: any Sendable]]] = []
            var rest = reports.shuffled(using: &generator)[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(Int.random(in: 1...60, using: &generator)))
                rest = rest.dropFirst(piece.count)
                pieces.append(piece)
                if Int.random(in: 0..<4, using: &generator) == 0 { pieces.append(piece.shuffled(using: &generator)) }
            }
            let order = pieces.shuffled(using: &generator)
            return try await withThrowingTaskGroup(of: Answers.self) { group in
                for poster in 0..<6 {
                    let own = order.enumerated().filter { $0.offset % 6 == poster }.map(\.element)
                    let api = servers[poster % servers.count]
                    group.addTask {
                        var answers = Answers()
                        for piece in own {
                            let answer = try await api.post("/attempts", piece)
                            #expect(answer.status == 200, "\(answer.text.prefix(500))")
                            answers.accepted += answer.count("accepted")
                            answers.conflicts += answer.count("conflict") + answer.count("rejected")
                            answers.total += ["accepted", "advanced", "duplicate"].map(answer.count).reduce(0, +)
                        }
                        return answers
                    }
                }
                return try await group.reduce(into: Answers()) { sum, answers in
                    sum.accepted += answers.accepted
                    sum.total += answers.total
                    sum.conflicts += answers.conflicts
                }
            }
        }

        /// Reports that do not contradict each other: one to three for each id, on the way from queued to its end.
        private func reports(_ count: Int, seed: UInt64, now: Timestamp, restamped: Bool) -> [[String: any Sendable]] {
            var generator = Seeded(seed: seed)
            // The newest one after which a re-stamp is still in the past.
            let midnight = Timestamp(seconds: (now - .seconds(4000)).day * 86_400)
            return (0..<count).flatMap { index -> [[String: any Sendable]] in
                // Around midnight, so that a re-stamp by minutes changes the day.
                let at = midnight - .seconds(Int64.random(in: 0..<3600, using: &generator))
                let end = index % 3
                var states: [(String, String?)] = [("queued", nil), end == 0 ? ("sent", nil) : ("failed", "provider_5xx")]
                if end == 2 { states.append(("deactivated", "token_not_registered")) }
                return states.filter { _ in Int.random(in: 0..<5, using: &generator) > 0 }.map { status, reason in
                    var sample = SampleAttempt(id: "\(seed)-\(index)", at: at, reason: reason)
                    if restamped { sample.at = at + .seconds(Int64.random(in: -4000..<4000, using: &generator)) }
                    var json = sample.json
                    json["status"] = status
                    json["reasonCode"] = reason
                    return json
                }
            }
        }

        /// Everything that is stored, but for when it came, in one digest.
        private func digest(_ database: String) async throws -> [String] {
            try await withPool(database) { pool in
                let facts =
                    "attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode, attemptedAt, requestId, app, latencyMs"
                return try await pool.query(
                    """
                    SELECT (SELECT md5(string_agg(row::text, E'\\n' ORDER BY row::text))
                            FROM (SELECT \(raw: facts) FROM notificationDeliveryAttempts) AS row),
                           (SELECT md5(string_agg(row::text, E'\\n' ORDER BY row::text)) FROM (
                               SELECT minute, provider, platform, status, reasonCode, app,
                                      sum(attempts), sum(latencyMsSum), sum(latencyCount)
                               FROM attemptRollups GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(attempts) <> 0) AS row)
                    """
                )[0].decodeTexts()
            }
        }

        @Test(
            "the same set in two ways leaves the same table, the same rollups, the same count of new ones",
            arguments: [11, 12] as [UInt64]
        )
        func sameOutcome(seed: UInt64) async throws {
            let now = Timestamp.now()
            let reports = reports(300, seed: seed, now: now, restamped: false)
            let ids = Set(reports.compactMap { $0["attemptId"] as? String })
            var outcomes: [[String]] = []
            for way in [1, 2] as [UInt64] {
                try await withServers { servers, database in
                    let answers = try await post(reports, seed: seed * 100 + way, to: servers)
                    #expect(answers.accepted == ids.count && answers.conflicts == 0)
                    outcomes.append(try await digest(database))
                    try await withPool(database) { try await Ledger(session: $0).expectConsistent() }
                }
            }
            #expect(outcomes[0] == outcomes[1])
        }

        @Test(
            "re-stamped across midnight, while generations rotate: one row for each id, with the furthest status",
            arguments: [21] as [UInt64]
        )
        func restampedWhileRotating(seed: UInt64) async throws {
            let now = Timestamp.now()
            let reports = reports(400, seed: seed, now: now, restamped: true)
            let ids = Set(reports.compactMap { $0["attemptId"] as? String })
            try await withServers { servers, database in
                try await withPool(database) { pool in
                    // One rotation only: an id is known through its own generation and the next.
                    let maintenance = PartitionMaintenance(pool: pool, logger: .silent)
                    async let answers = post(reports, seed: seed, to: servers)
                    try await eventually("the first ones are stored") {
                        try await pool.query("SELECT count(*) > 40 FROM notificationDeliveryAttempts")[0].decode(Bool.self)
                    }
                    try await maintenance.rotateLedgerNow()
                    let first = try await answers
                    #expect(first.conflicts == 0)
                    let again = try await post(reports, seed: seed + 1, to: servers)
                    #expect(first.accepted + again.accepted == ids.count && again.accepted == 0)
                    let ledger = Ledger(session: pool)
                    #expect(try await ledger.rows == ids.count)
                    try await ledger.expectConsistent()
                    let stored = try await pool.query("SELECT attemptId, status::text FROM notificationDeliveryAttempts").map {
                        try $0.decode((String, String).self)
                    }
                    let wanted = Dictionary(grouping: reports) { $0["attemptId"] as? String ?? "" }.mapValues(furthestStatus)
                    for (id, status) in stored { #expect(wanted[id] == status, "\(id)") }
                }
            }
        }

        private func furthestStatus(_ reports: [[String: any Sendable]]) -> String {
            let statuses = reports.compactMap { $0["status"] as? String }
            return ["deactivated", "failed", "sent", "queued"].first(where: statuses.contains) ?? ""
        }
    }
}

/// The same numbers for the same seed.
private struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

extension Row {
    fileprivate func decodeTexts() throws -> [String] {
        let (facts, rollups) = try decode((String, String).self)
        return [facts, rollups]
    }
}
