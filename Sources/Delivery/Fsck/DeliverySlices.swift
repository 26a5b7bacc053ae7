import Attempts
import Postgres

/// The deliveries, cut by their ids into pieces of which one statement takes a moment.
struct DeliverySlices {
    let all: [Range<Int64>]

    /// Of all places, so that what belongs to no delivery is seen, too.
    static func read(_ context: FsckContext, size: Int64) async throws -> DeliverySlices {
        var bounds: [(Int64?, Int64?)] = []
        for table in ["pushDeliveries", "pushReady", "pushScheduled", "pushFinishedSingles", "pushDead"] {
            bounds.append(
                try await context.look("SELECT min(deliveryId), max(deliveryId) FROM \(raw: table)")[0].decode((Int64?, Int64?).self)
            )
        }
        guard let first = bounds.compactMap(\.0).min(), let last = bounds.compactMap(\.1).max() else {
            return DeliverySlices(ids: 0..<0, size: size)
        }
        return DeliverySlices(ids: first..<last + 1, size: size)
    }

    init(ids: Range<Int64>, size: Int64) {
        all = stride(from: ids.lowerBound, to: ids.upperBound, by: Int64.Stride(size)).map { $0..<min($0 + size, ids.upperBound) }
    }
}
