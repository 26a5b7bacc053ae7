import Delivery
import HTTPServer
import Postgres
import PushContract
import ServiceKit

/// A match whose followers are to be alerted now.
struct DueMatch: Sendable {
    var matchId: String
    var title: String
    var startsAt: Timestamp

    init(_ row: Row) throws { (matchId, title, startsAt) = try row.decode((String, String, Timestamp).self) }

    var sendId: String { "\(PrematchQueries.prefix)\(matchId)-\(startsAt.seconds)" }

    /// Not sent after the start, and never twice.
    func request(to uids: [String], now: Timestamp) throws -> SendRequest {
        let minutes = max(1, Int(((startsAt - now).inSeconds / 60).rounded()))
        let values: [String: JSONValue] = ["title": .string(title), "minutes": .string("\(minutes)")]
        var request = try SendRequest(
            .object([
                "sendId": .string(sendId), "uids": .array([.string(uids[0])]), "class": .string(DeliveryClass.high.rawValue),
                "policy": .string(DeliveryPolicy.atMostOnce.rawValue), "expiresAt": .string(startsAt.rfc3339),
                "text": .object(["name": .string(PrematchAlerts.text), "values": .object(values)]),
            ]),
            now: now
        )
        // More than a caller may list.
        request.target = .users(uids, app: nil)
        return request
    }
}
