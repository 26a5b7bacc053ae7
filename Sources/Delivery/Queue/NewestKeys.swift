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
    /// A newer one has replaced it.
    case superseded
    /// An older one is in flight.
    case waits(until: Timestamp)
}

extension SendStore {
    /// Decides which of the claimed deliveries with a `collapseId` may be attempted.
    func beginNewest(_ claimed: [ClaimedDelivery]) async throws -> [ClaimedDelivery] {
        let asked = claimed.compactMap { delivery in delivery.newestKeys.map { (delivery.deliveryId, $0, delivery.expiresAt) } }
        guard !asked.isEmpty else { return claimed }
        let started = Set(try await pool.query(NewestQueries.begin(asked)).compactMap { try $0.decode(Int64?.self) })
        var verdicts: [Int64: NewestVerdict] = [:]
        let refused = asked.filter { !started.contains($0.0) }
        if !refused.isEmpty {
            for row in try await pool.query(NewestQueries.refusals(refused)) {
                let (deliveryId, isSuperseded, until) = try row.decode((Int64, Bool, Timestamp).self)
                verdicts[deliveryId] = isSuperseded ? .superseded : .waits(until: until)
            }
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
