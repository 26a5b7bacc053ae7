import HTTPServer
import Postgres
import PushContract

/// The devices of many people, which become deliveries without leaving the database.
struct FanOut {
    /// The people, as `SELECT … AS uid, … AS deviceId`; without a deviceId all of their devices.
    let people: Query
    let app: String?
    /// Whose members they are.
    var audience: Audience?
    let now: Timestamp

    /// Those of a stored audience, up to `lastUid`.
    struct Audience {
        var id: String
        var app: String?
        var afterUid = ""
        var lastUid: String?
    }

    /// The devices that can be reached, by kind, and how many of the people have none.
    func reach(on connection: BlockingConnection) throws -> (kinds: [PayloadKind.Count], peopleWithoutDevice: Int) {
        var kinds: [PayloadKind.Count] = []
        var peopleWithoutDevice = 0
        let rows = try connection.query(
            """
            SELECT v.provider, v.platform, v.environment, v.app, count(*) FROM (\(people)) p LEFT JOIN devices v ON \(reachable)
            GROUP BY v.provider, v.platform, v.environment, v.app
            """
        )
        for row in rows {
            let (provider, platform, environment, app, count) = try row.decode((String?, String?, String?, String?, Int).self)
            if let provider, let platform, let environment, let app {
                kinds.append((try PayloadKind(provider, platform, environment, app), count))
            } else {
                peopleWithoutDevice = count
            }
        }
        return (kinds, peopleWithoutDevice)
    }

    /// Stores a delivery for each device of the send's kinds and puts it where it waits; how many. The queues must be there.
    func store(_ send: FanOutSend, on connection: BlockingConnection) throws -> Int {
        // The devices of one person after the other: where the number of people is underestimated, all devices that there are would be read.
        let rows: Query = """
            WITH reached AS MATERIALIZED (
                SELECT v.* FROM (\(people)) p CROSS JOIN LATERAL (
                    SELECT v.userId AS uid, v.deviceId, v.platform, v.provider, v.environment, v.app FROM devices v WHERE \(reachable) OFFSET 0
                ) v
            )
            SELECT \(send.sendId)::text AS sendId, l.queue, uid, deviceId, platform, provider, environment, app,
                NULL::text AS pushToken, NULL::text AS tokenHash, \(send.collapseId)::text AS collapseId, \(send.version)::bigint AS version,
                \(send.expiresAt) AS expiresAt, false AS isDirect, 0::bigint AS ordinal
            FROM reached
            JOIN unnest(\(send.kinds.map(\.provider.rawValue))::pushProvider[], \(send.kinds.map(\.platform.rawValue))::pushPlatform[],
                \(send.kinds.map(\.environment.rawValue))::pushEnvironment[], \(send.kinds.map(\.app)))
                AS k(provider, platform, environment, app) USING (provider, platform, environment, app)
            JOIN pushQueues l USING (app, provider, environment) WHERE l.class = \(send.deliveryClass.rawValue)::pushClass
            """
        guard send.collapseId == nil else {
            return try NewestQueries.insert(rows, mayBeLater: send.mayBeLater, acceptedAs: send.acceptedAs, now: now, on: connection).count
        }
        return try connection.query(EnqueueQueries.insert(rows, mayBeLater: send.mayBeLater, now: now))[0].decode(Int.self)
    }

    private var reachable: Query {
        """
        v.userId = p.uid AND v.deviceId = coalesce(p.deviceId, v.deviceId) AND v.expiresAt > \(now) AND v.tokenState <> 'inactive' AND (\(app)::text IS NULL OR v.app = \(app)::text)
        """
    }
}

extension FanOut {
    init(_ audience: Audience, now: Timestamp) {
        let end: Query = if let lastUid = audience.lastUid { "AND uid <= \(lastUid)" } else { "" }
        self.init(
            people: """
                SELECT uid, NULL::text AS deviceId FROM audienceMembers
                WHERE audienceId = \(audience.id) AND uid > \(audience.afterUid) \(end)
                """,
            app: audience.app,
            audience: audience,
            now: now
        )
    }

    /// Nil for sends to single targets.
    init?(_ request: SendRequest, now: Timestamp) {
        switch request.target {
        case .users(let uids, let app):
            self.init(people: "SELECT DISTINCT unnest(\(uids)) AS uid, NULL::text AS deviceId", app: app, now: now)
        case .audience(let id, let app): self.init(Audience(id: id, app: app), now: now)
        case .selected(let devices): self.init(people: devices, app: nil, now: now)
        case .user, .device, .devices, .token, .tokens: return nil
        }
    }
}

extension FanOut {
    /// Why a send to many people does not reach some of them.
    static func unreachable(_ request: SendRequest) -> Problem {
        .invalid(
            "This person has no device that can be reached. Register it with POST /devices.",
            code: "unknown_uid",
            pointer: request.pointer
        )
    }

    /// Why a send to many people reaches none.
    static func noRecipient(_ request: SendRequest) -> Problem {
        guard case .audience(let id, _) = request.target else {
            return .invalid(
                "None of these uids has a device that can be reached. Register devices with POST /devices.",
                code: "unknown_uid",
                pointer: request.pointer + "/uids"
            )
        }
        return .invalid(
            "The audience \(id) does not exist, or none of its members has a device that can be reached. See GET /audiences/\(id).",
            code: "unknown_audience",
            pointer: request.pointer + "/audience"
        )
    }
}
