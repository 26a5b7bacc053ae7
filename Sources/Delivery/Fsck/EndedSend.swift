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
    /// By token, how many rows say sent.
    var sent: [String: Int64] = [:]

    init(_ row: Row) throws {
        (sendId, uid, attempts, since, ended, stored) = try row.decode((String, String, Int64, Timestamp, Int64, Int64).self)
    }

    mutating func count(_ row: Row) throws {
        let (_, token, number, sent) = try row.decode((Int, String, Int64, Int64).self)
        rows += number
        self.sent[token] = sent
    }

    static let rowsCheck = "sendAttempts"
    static let sentCheck = "sentOnce"

    /// Their keys begin with the name of the check.
    var faults: [FsckFault] {
        var texts: [(check: String, text: String)] = []
        // With a delivery under way there may be a row more.
        if ended == stored, rows != attempts { texts.append((Self.rowsCheck, "\(attempts) attempts and \(rows) rows")) }
        for (token, number) in sent.sorted(by: { $0.key < $1.key }) where number > stored {
            texts.append((Self.sentCheck, "\(token): \(number) rows that say sent"))
        }
        return texts.map { FsckFault(key: "\($0.check) \(sendId) \(uid) \($0.text)", text: "send \(sendId), uid \(uid), \($0.text)") }
    }
}
