import Postgres
import PushContract

/// The rows of `pushNewest` that a claimed delivery with a `collapseId` concerns.
struct NewestKeys: Sendable, Hashable {
    /// Of its device; of its token if it was sent to one.
    var own: [UInt8]
    /// Of the token that it is sent to now.
    var token: [UInt8]
}

/// Whether a claimed delivery may be attempted, as far as others with its `collapseId` are concerned.
enum NewestVerdict: Sendable, Hashable {
    case newest
    /// A newer one to its device (of a bare token: to that) has replaced it: `GET /sends/{sendId}` says so since then.
    case superseded
    /// A newer one to the token that it is to be sent to now has replaced it.
    case supersededAtToken
    /// An older one is in flight.
    case waits(until: Timestamp)
}

extension SendStore {
    /// Decides which of the claimed deliveries with a `collapseId` may be attempted.
    func beginNewest(_ claimed: [ClaimedDelivery]) async throws -> [ClaimedDelivery] {
        let asked: [NewestQueries.Claimed] = claimed.compactMap { delivery in
            delivery.newestKeys.map { (delivery.deliveryId, $0, delivery.expiresAt) }
        }
        // Without a token it cannot be attempted, and is superseded all the same.
        let withoutToken = claimed.filter { $0.newestKeys == nil && $0.collapseKey != nil }
        guard !asked.isEmpty || !withoutToken.isEmpty else { return claimed }
        let started = try await begin(asked)
        var verdicts: [Int64: NewestVerdict] = [:]
        let refused = asked.filter { !started.contains($0.deliveryId) }
        if !refused.isEmpty {
            for row in try await pool.query(NewestQueries.refusals(refused)) {
                let (deliveryId, isSuperseded, isSupersededAtToken, until) = try row.decode((Int64, Bool, Bool, Timestamp).self)
                verdicts[deliveryId] = isSuperseded ? .superseded : isSupersededAtToken ? .supersededAtToken : .waits(until: until)
            }
        }
        if !withoutToken.isEmpty {
            let keys = withoutToken.map { ($0.deliveryId, $0.collapseKey ?? []) }
            for row in try await pool.query(NewestQueries.superseded(keys)) { verdicts[try row.decode(Int64.self)] = .superseded }
        }
        return claimed.map { delivery in
            var delivery = delivery
            if let verdict = verdicts[delivery.deliveryId] { delivery.newestVerdict = verdict }
            return delivery
        }
    }

    /// Those that are in flight now. One whose key another transaction has locked for longer than a moment is not, and delays no others.
    ///
    /// - Parameter end: of those that met a lock: when what is left of them goes back.
    private func begin(_ claimed: [NewestQueries.Claimed], until end: ContinuousClock.Instant? = nil) async throws -> Set<Int64> {
        guard !claimed.isEmpty else { return [] }
        let lockLimit = end == nil ? 100 : 10
        do {
            return try await pool.performTransaction(retrying: .conflicts.except(.lockNotAvailable)) { connection in
                try connection.executeLater("SET LOCAL lock_timeout = \(raw: String(lockLimit))")
                return Set(try connection.query(NewestQueries.begin(claimed)).compactMap { try $0.decode(Int64?.self) })
            }
        } catch let error as PostgresError where error.code == .lockNotAvailable {
            let end = end ?? .now + .seconds(2)
            guard .now < end else { return [] }
            let rows = try await pool.query(NewestQueries.lock(tokens: claimed.map(\.keys.token)))
                .map { try $0.decode(([UInt8], Int64, Int64?, Timestamp?, Timestamp, Bool).self) }
            let locked = Set(rows.compactMap { $0.5 ? nil : $0.0 })
            let free = claimed.filter { !locked.contains($0.keys.token) }
            if free.count < claimed.count { return try await begin(free, until: end) }
            // Perhaps another transaction inserts the key, so that it is not visible.
            guard free.count > 1 else { return [] }
            let half = free.count / 2
            let first = try await begin(Array(free[..<half]), until: end)
            return first.union(try await begin(Array(free[half...]), until: end))
        }
    }

    /// Removes what no delivery needs any more from `pushNewest`.
    func forgetNewest() async throws {
        while try await pool.execute(NewestQueries.forget) == 5000 {}
    }
}
