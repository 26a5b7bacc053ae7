import Attempts
import Postgres
import PushContract

/// Deliveries of a send to one person that have ended, next to the rows of their attempts.
struct EndedSend {
    var sendId: String
    var uid: String
    /// As the deliveries say.
    var attempts: Int64
    var since: Timestamp
    var ended: Int64
    var stored: Int64
    var rows: Int64 = 0

    init(_ row: Row) throws {
        (sendId, uid, attempts, since, ended, stored) = try row.decode((String, String, Int64, Timestamp, Int64, Int64).self)
    }

    var fault: FsckFault? {
        // With a delivery under way there may be a row more.
        guard ended == stored, rows != attempts else { return nil }
        return FsckFault("send \(sendId), uid \(uid), \(attempts) attempts and \(rows) rows")
    }
}
