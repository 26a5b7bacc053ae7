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
        let asked = claimed.compactMap { delivery in delivery.newestKeys.map { (delivery.deliveryId, $0, delivery.expiresAt) } }
        // Without a token it cannot be attempted, and is superseded all the same.
        let withoutToken = claimed.filter { $0.newestKeys == nil && $0.collapseKey != nil }
        guard !asked.isEmpty || !withoutToken.isEmpty else { return claimed }
        let started = asked.isEmpty ? [] : Set(try await pool.query(NewestQueries.begin(asked)).compactMap { try $0.decode(Int64?.self) })
        var verdicts: [Int64: NewestVerdict] = [:]
        let refused = asked.filter { !started.contains($0.0) }
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

    /// Removes what no delivery needs any more from `pushNewest`.
    func forgetNewest() async throws {
        while try await pool.execute(NewestQueries.forget) == 5000 {}
    }
}
