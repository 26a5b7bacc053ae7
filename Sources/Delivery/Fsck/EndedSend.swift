import Attempts
import Postgres
import PushContract

/// All deliveries of a send to one person, which have ended, next to the rows of their attempts.
struct EndedSend {
    var sendId: String
    var uid: String
    /// As the deliveries say.
    var attempts: Int64
    var since: Timestamp
    var rows: Int64 = 0

    init(_ row: Row) throws {
        (sendId, uid, attempts, since) = try row.decode((String, String, Int64, Timestamp).self)
    }

    var fault: FsckFault? {
        rows == attempts ? nil : FsckFault("send \(sendId), uid \(uid), \(attempts) attempts and \(rows) rows")
    }
}
