import PushContract

/// What the database said about keys, for half a minute: a revoked key works at most that much longer.
///
/// That a key does not exist is remembered too, so that a caller with a wrong key costs no query a request; such entries have a
/// bound of their own, so that invented keys cannot push real ones out. Lookups are by hash: no secret is kept.
struct KeyCache {
    private struct Entry {
        var key: APIKey?
        var asked: Timestamp
    }

    static let lifetime = Duration.seconds(30)
    static let bound = 10_000

    private var known: [[UInt8]: Entry] = [:]
    private var unknown: [[UInt8]: Entry] = [:]

    /// The answer, if it is fresh: `.some(nil)` means that there is no such key.
    func answer(for hash: [UInt8], now: Timestamp) -> APIKey?? {
        guard let entry = known[hash] ?? unknown[hash], Self.isFresh(entry, now) else { return nil }
        return .some(entry.key)
    }

    /// Keeps an answer. `asked` is when the question was put, not when it was answered: a revocation may lie between.
    mutating func store(_ key: APIKey?, for hash: [UInt8], asked: Timestamp) {
        known[hash] = nil
        unknown[hash] = nil
        let entry = Entry(key: key, asked: asked)
        if key == nil { Self.insert(entry, hash, into: &unknown) } else { Self.insert(entry, hash, into: &known) }
    }

    private static func insert(_ entry: Entry, _ hash: [UInt8], into entries: inout [[UInt8]: Entry]) {
        if entries.count >= bound { entries = entries.filter { isFresh($0.value, entry.asked) } }
        if entries.count >= bound { entries.removeAll() }
        entries[hash] = entry
    }

    /// A clock that was set back makes entries stale, not eternal.
    private static func isFresh(_ entry: Entry, _ now: Timestamp) -> Bool {
        (Duration.zero..<lifetime).contains(now - entry.asked)
    }

    var count: Int { known.count + unknown.count }
}
