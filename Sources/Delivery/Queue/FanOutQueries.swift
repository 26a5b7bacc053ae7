import HTTPServer
import Postgres
import PushContract

/// The SQL of sends to many people: the devices of a list or an audience become deliveries without leaving the database.
struct FanOut {
    /// The people, as `SELECT … AS uid, … AS deviceId`; without a deviceId all of their devices.
    let people: Query
    let app: String?
    let now: Timestamp

    /// Kinds of devices they have that can be reached, and how many of each.
    func kinds(on connection: BlockingConnection) throws -> [PayloadKind.Count] {
        try connection.query(
            """
            SELECT v.provider, v.platform, v.environment, v.app, count(*) FROM (\(people)) p JOIN devices v ON \(reachable)
            GROUP BY v.provider, v.platform, v.environment, v.app
            """
        ).map { row in
            let (provider, platform, environment, app, devices) = try row.decode((String, String, String, String, Int).self)
            let kind = PayloadKind(
                provider: try stored(provider),
                platform: try stored(platform),
                environment: try stored(environment),
                app: app
            )
            return (kind, devices)
        }
    }

    /// How many of them have no device that can be reached.
    func peopleWithoutDevice(on connection: BlockingConnection) throws -> Int {
        try connection.query(
            "SELECT count(*) FROM (\(people)) p WHERE NOT EXISTS (SELECT FROM devices v WHERE \(reachable))"
        )[0].decode(Int.self)
    }

    /// Stores a delivery for each device of these kinds and puts it where it waits; how many. The queues must be there.
    func store(
        _ send: SendRequest,
        to kinds: [PayloadKind],
        as deliveryClass: DeliveryClass,
        on connection: BlockingConnection
    ) throws -> Int {
        let rows: Query = """
            SELECT \(send.sendId)::text AS sendId, l.queue, v.userId AS uid, v.deviceId, v.platform, v.provider, v.environment, v.app,
                NULL::text AS pushToken, NULL::text AS tokenHash, \(send.content.collapseId)::text AS collapseId, \(send.version)::bigint AS version,
                \(send.expiresAt) AS expiresAt, false AS isDirect, 0::bigint AS ordinal
            FROM (\(people)) p JOIN devices v ON \(reachable)
            JOIN unnest(\(kinds.map(\.provider.rawValue)), \(kinds.map(\.platform.rawValue)), \(kinds.map(\.environment.rawValue)),
                \(kinds.map(\.app))) AS k(provider, platform, environment, app)
                ON v.provider = k.provider::pushProvider AND v.platform = k.platform::pushPlatform
                AND v.environment = k.environment::pushEnvironment AND v.app = k.app
            JOIN pushQueues l ON l.app = v.app AND l.provider = v.provider AND l.environment = v.environment
                AND l.class = \(deliveryClass.rawValue)::pushClass
            """
        let mayBeLater = send.notBefore != nil
        guard send.content.collapseId == nil else {
            return try NewestQueries.insert(rows, mayBeLater: mayBeLater, now: now, on: connection).count
        }
        return try connection.query(EnqueueQueries.insert(rows, mayBeLater: mayBeLater, now: now))[0].decode(Int.self)
    }

    private var reachable: Query {
        """
        v.userId = p.uid AND v.deviceId = coalesce(p.deviceId, v.deviceId) AND v.expiresAt > \(now) AND v.tokenState <> 'inactive' AND (\(app)::text IS NULL OR v.app = \(app)::text)
        """
    }
}

extension FanOut {
    /// Nil for sends to single targets.
    init?(_ request: SendRequest, now: Timestamp) {
        switch request.target {
        case .users(let uids, let app):
            self.init(people: "SELECT DISTINCT unnest(\(uids)) AS uid, NULL::text AS deviceId", app: app, now: now)
        case .audience(let id, let app):
            self.init(
                people: "SELECT uid, NULL::text AS deviceId FROM audienceMembers WHERE audienceId = \(id)",
                app: app,
                now: now
            )
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
