import Postgres
import PushContract

extension SendStore {
    /// A send of which not all deliveries are stored.
    func nextFanOut(except sendIds: Set<String>) async throws -> String? {
        try await pool.query(FanOutQueries.next(except: Array(sendIds))).first?.decode(String.self)
    }

    /// Stores the next portion of a send to many people; how many deliveries, nil if there is nothing to store for this instance.
    func storeNext(of sendId: String) async throws -> Int? {
        try await pool.performTransaction { [fanOutSizes, selection] connection in
            guard let (send, people) = try FanOutQueries.lock(sendId, selection, now: .now(), on: connection) else { return nil }
            return try FanOutQueries.storeNext(send, to: people, people: fanOutSizes.people, on: connection)
        }
    }
}
