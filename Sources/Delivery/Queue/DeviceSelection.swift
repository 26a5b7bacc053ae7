package import Postgres
package import PushContract

/// Devices that a feature above selects for a send (`SendRequest.Target.selected`).
///
/// With a send to more devices than are stored at once it is stored as JSON, and asked again for each portion, maybe by another process. So
/// what it selects may change meanwhile: who is not selected any more when their portion is stored is not sent to.
package protocol DeviceSelection: Codable, Sendable {
    /// The people, each once, as `SELECT … AS uid, … AS deviceId`; without a deviceId all of their devices.
    func people(_ uids: UidRange, now: Timestamp) -> Query

    /// The condition on one of their devices `d`; the columns of `people` are those of `p`.
    func includes(now: Timestamp) -> Query
}

/// The people of one portion.
package struct UidRange: Sendable, Hashable {
    package static let all = UidRange()

    /// The last one of the portion before.
    var after: String?
    var last: String?

    /// - Parameter uid: SQL of the type `text COLLATE "C"`.
    package func contains(_ uid: Query) -> Query {
        let isAfter: Query = after.map { "\(uid) > \($0)" } ?? "true"
        return last.map { "\(isAfter) AND \(uid) <= \($0)" } ?? isAfter
    }
}
