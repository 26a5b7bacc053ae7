import Cricket
import Foundation
import Postgres
import PushContract

/// A match as its row has it: what detection remembers, and what readers see.
struct StoredMatch {
    var memory: MatchMemory
    var phase: MatchPhase
    /// Where the known state is from, and when that source last said that it is the state.
    var source: MatchSource
    var confirmedAt: Timestamp
    /// When something new was stored.
    var changedAt: Timestamp

    static let columns = """
        seq, stateTimestamp, stateHash, cooldowns::text, lastBalls::text, detection::text, feedState::text, phase, feedUrl, feedPriority,
        confirmedAt, lastUpdatedAt
        """

    init(_ row: Row) throws {
        let (seq, timestamp, hash, cooldowns, balls, detection, feed, phase, url, priority, confirmedAt, changedAt) = try row.decode(
            (Int64, Int64, String, String, String, String, String?, String, String?, Int16, Timestamp, Timestamp).self
        )
        source = MatchSource(url: url, priority: priority)
        self.confirmedAt = confirmedAt
        self.changedAt = changedAt
        let carried = try StoredMatch.decode(Detection.self, detection)
        memory = MatchMemory(
            score: try feed.map { feed in try StoredMatch.read(feed) { try MatchScore.read(json: $0) } },
            window: BallWindow(balls: try StoredMatch.read(balls) { try Ball.readAll(json: $0) }, tails: carried.tails ?? [:]),
            cooldowns: try StoredMatch.decode(Cooldowns.self, cooldowns),
            key: carried.key,
            seq: seq,
            stateTimestamp: timestamp,
            stateHash: hash
        )
        guard let known = MatchPhase(rawValue: phase) else { throw PostgresError(.decoding, "the database holds an unknown phase") }
        self.phase = known
    }

    /// What has no column of its own.
    struct Detection: Codable {
        /// Wickets in a row per bowler before the last balls.
        var tails: [String: Int]?
        /// What the card shows.
        var key: MatchEvent?
    }

    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
        try read(json) { try JSONDecoder().decode(type, from: Data($0)) }
    }

    private static func read<Value>(_ json: String, _ read: ([UInt8]) throws -> Value) throws -> Value {
        do {
            return try read(Array(json.utf8))
        } catch {
            throw PostgresError(.decoding, "a match has a \(Value.self) this version does not know: \(error)")
        }
    }
}
