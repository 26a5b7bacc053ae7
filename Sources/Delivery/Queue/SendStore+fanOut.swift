import Postgres

extension SendStore {
    /// A send of which not all deliveries are stored.
    func nextFanOut(except sendIds: Set<String>) async throws -> String? {
        try await pool.query(FanOutQueries.next(except: Array(sendIds))).first?.decode(String.self)
    }

    /// Stores the next portion of a send to a large audience; how many deliveries, nil if there is nothing to store for this instance.
    func storeNext(of sendId: String) async throws -> Int? {
        try await pool.performTransaction { [fanOutSizes] connection in
            try FanOutQueries.storeNext(of: sendId, members: fanOutSizes.members, on: connection)
        }
    }
}
