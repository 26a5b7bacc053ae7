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
    /// Sends of this start that were cancelled, because the match had another start meanwhile, or none.
    var cancelled: Int

    init(_ row: Row) throws { (matchId, title, startsAt, cancelled) = try row.decode((String, String, Timestamp, Int).self) }

    var sendId: String { "\(PrematchQueries.prefix)\(matchId)-\(startsAt.seconds)" + (cancelled > 0 ? ".\(cancelled)" : "") }

    static func matchId(ofSend sendId: String) -> String {
        let name = sendId.dropFirst(PrematchQueries.prefix.count)
        return String(name[..<(name.lastIndex(of: "-") ?? name.endIndex)])
    }

    /// Not sent after the start, and never twice.
    func request(now: Timestamp) throws -> SendRequest {
        let minutes = max(1, Int(((startsAt - now).inSeconds / 60).rounded()))
        let values: JSONMembers = ["title": .string(title), "minutes": .string("\(minutes)")]
        return try SendRequest(
            sendId: sendId,
            target: .selected(LiveRecipients.beforeMatch(matchId: matchId, sendId: sendId)),
            content: ["text": .object(["name": .string(PrematchAlerts.text), "values": .object(values)])],
            deliveryClass: .high,
            policy: .atMostOnce,
            expiresAt: startsAt
        )
    }
}
