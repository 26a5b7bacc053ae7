import Foundation
import Postgres
import PushContract

/// The SQL of sends to many people, whose deliveries are stored in portions: one transaction for all of them would take longer than a
/// request may, and keep the keys of all their devices locked.
enum FanOutQueries {
    /// Notes that the deliveries are to be stored; the send with its place, nil for a list, which is stored at once. An audience does not
    /// lose members until they are (`isBeingSentTo`).
    static func begin(_ send: FanOutSend, to people: FanOut, devices: Int, on connection: BlockingConnection) throws -> FanOutSend? {
        var audienceId: String?
        var selection: String?
        switch people.people {
        case .users: return nil
        case .audience(let id):
            audienceId = id
            try connection.execute("SELECT FROM audiences WHERE audienceId = \(id) FOR SHARE")
        case .selected(let selected): selection = String(decoding: try JSONEncoder().encode(selected), as: UTF8.self)
        }
        var accepted = send
        accepted.acceptedAs = try connection.query(
            """
            INSERT INTO pushFanOuts
                (sendId, audienceId, selection, app, providers, platforms, environments, apps, devices, collapseId, version, acceptedAs)
            VALUES (\(send.sendId), \(audienceId), \(selection), \(people.app), \(send.kinds.map(\.provider.rawValue)),
                \(send.kinds.map(\.platform.rawValue)), \(send.kinds.map(\.environment.rawValue)), \(send.kinds.map(\.app)), \(devices),
                \(send.collapseId), \(send.version), nextval('pushDeliveries_deliveryId_seq'))
            RETURNING acceptedAs
            """
        )[0].decode(Int64.self)
        return accepted
    }

    /// Whether one of these sends is not stored to its end, and has not expired.
    static func isStoring(_ sendIds: [String]) -> Query {
        """
        SELECT EXISTS (SELECT FROM pushFanOuts JOIN pushSends USING (sendId)
            WHERE sendId = ANY(\(sendIds)) AND expiresAt > clock_timestamp())
        """
    }

    /// A send to the audience that is not stored to its end; its sendId. The audience's row must be locked.
    static func isBeingSentTo(_ audienceId: String, on connection: BlockingConnection) throws -> String? {
        try connection.query("SELECT sendId FROM pushFanOuts WHERE audienceId = \(audienceId) LIMIT 1").first?.decode(String.self)
    }

    /// The send whose turn it is: of the highest class, the one that has waited longest.
    static func next(except sendIds: [String]) -> Query {
        """
        SELECT sendId FROM pushFanOuts JOIN pushSends USING (sendId) WHERE sendId <> ALL(\(sendIds)) ORDER BY class, storedAt LIMIT 1
        """
    }

    /// Locks what is to be stored of a send; nil if another instance stores a portion of it, or everything is stored.
    static func lock(
        _ sendId: String,
        _ selection: (any DeviceSelection.Type)?,
        now: Timestamp,
        on connection: BlockingConnection
    ) throws -> (send: FanOutSend, people: FanOut)? {
        guard
            let row = try connection.query(
                """
                SELECT audienceId, selection, app, providers, platforms, environments, apps, collapseId, version, acceptedAs, afterUid, class,
                    notBefore IS NOT NULL, expiresAt
                FROM pushFanOuts f JOIN pushSends USING (sendId) WHERE sendId = \(sendId) FOR UPDATE OF f SKIP LOCKED
                """
            ).first
        else { return nil }
        let values = try row.decode(
            (String?, String?, String?, [String], [String], [String], [String], String?, Int64?, Int64, String, String, Bool, Timestamp)
                .self
        )
        let send = FanOutSend(
            sendId: sendId,
            kinds: try values.3.indices.map { try PayloadKind(values.3[$0], values.4[$0], values.5[$0], values.6[$0]) },
            deliveryClass: try stored(values.11),
            collapseId: values.7,
            version: values.8,
            acceptedAs: values.9,
            mayBeLater: values.12,
            expiresAt: values.13
        )
        let people: FanOut.People =
            if let audienceId = values.0 {
                .audience(audienceId)
            } else if let selection, let json = values.1 {
                .selected(try JSONDecoder().decode(selection, from: Data(json.utf8)))
            } else {
                throw UnknownSelection()
            }
        return (send, FanOut(people: people, app: values.2, uids: UidRange(after: values.10), now: now))
    }

    /// This process does not know the feature that selects the devices.
    private struct UnknownSelection: Error {}

    /// Stores the deliveries of the next people; how many.
    ///
    /// - Parameter people: those that are left.
    static func storeNext(_ send: FanOutSend, to people: FanOut, people limit: Int, on connection: BlockingConnection) throws -> Int {
        var portion = people
        let (count, last) = try people.next(limit, on: connection)
        portion.uids.last = last
        var deliveries = 0
        if last != nil {
            let stored = try portion.store(send, on: connection)
            try SendEvents.record(.superseded, stored.superseded, on: connection)
            deliveries = stored.count
        }
        if count < limit {
            try connection.execute("DELETE FROM pushFanOuts WHERE sendId = \(send.sendId)")
        } else {
            try connection.execute("UPDATE pushFanOuts SET afterUid = \(last), storedAt = clock_timestamp() WHERE sendId = \(send.sendId)")
        }
        return deliveries
    }
}
