import Attempts
import Postgres

/// The deliveries, cut by their ids into pieces of which one statement takes a moment.
struct DeliverySlices {
    let all: [Range<Int64>]
    /// The same, ten together: as many as are compared with what is ready, which no index finds by its deliveries, at a time.
    let groups: [Range<Int64>]
    private let size: Int64

    /// Of all places, so that what belongs to no delivery is seen, too.
    static func read(_ context: FsckContext, size: Int64) async throws -> DeliverySlices {
        var bounds: [(Int64?, Int64?)] = []
        for table in ["pushDeliveries", "pushScheduled", "pushFinished", "pushDead"] {
            bounds.append(
                try await context.look("SELECT min(deliveryId), max(deliveryId) FROM \(raw: table)")[0].decode((Int64?, Int64?).self)
            )
        }
        for piece in try await ready(on: context.pool) {
            let rows = try await context.look("SELECT min(deliveryId), max(deliveryId) FROM pushReady WHERE \(piece)")
            bounds.append(try rows[0].decode((Int64?, Int64?).self))
        }
        guard let first = bounds.compactMap(\.0).min(), let last = bounds.compactMap(\.1).max() else {
            return DeliverySlices(ids: 0..<0, size: size)
        }
        return DeliverySlices(ids: first..<last + 1, size: size)
    }

    init(ids: Range<Int64>, size: Int64) {
        self.size = size
        all = ids.pieces(of: size)
        groups = ids.pieces(of: size * 10)
    }

    func slices(of group: Range<Int64>) -> [Range<Int64>] { group.pieces(of: size) }

    /// Pieces of `pushReady`.
    static func ready(on session: some PostgresSession) async throws -> [Query] {
        try await FilePieces.read("pushReady", pages: 1024, on: session) ?? []
    }
}

extension Range<Int64> {
    fileprivate func pieces(of size: Int64) -> [Range<Int64>] {
        stride(from: lowerBound, to: upperBound, by: Int64.Stride(size)).map { $0..<Swift.min($0 + size, upperBound) }
    }
}
