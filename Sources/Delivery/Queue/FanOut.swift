import HTTPServer
import Postgres
import PushContract

/// The devices of many people, which become deliveries without leaving the database.
struct FanOut {
    enum People {
        /// All devices of these.
        case users([String])
        /// All devices of the members of a stored audience.
        case audience(String)
        case selected(any DeviceSelection)
    }

    let people: People
    /// Only devices of this app; nil: of any.
    var app: String?
    var uids = UidRange.all
    let now: Timestamp

    /// The devices that can be reached, by kind, and how many of the people have none; of a selection, that is not counted.
    func reach(on connection: BlockingConnection) throws -> (kinds: [PayloadKind.Count], peopleWithoutDevice: Int) {
        let join = if case .selected = people { "JOIN" } else { "LEFT JOIN" }
        var kinds: [PayloadKind.Count] = []
        var peopleWithoutDevice = 0
        let rows = try connection.query(
            """
            SELECT d.provider, d.platform, d.environment, d.app, count(*) FROM (\(selected)) p \(raw: join) devices d ON \(reachable)
            GROUP BY d.provider, d.platform, d.environment, d.app
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

    /// Stores a delivery for each device of the send's kinds and puts it where it waits; how many, and what is superseded, which the caller
    /// records. The queues must be there.
    func store(
        _ send: FanOutSend,
        on connection: BlockingConnection
    ) throws -> (count: Int, superseded: [NewestQueries.Superseded]) {
        // The devices of one person after the other: where the number of people is underestimated, all devices that there are would be
        // read.
        let rows: Query = """
            WITH reached AS MATERIALIZED (
                SELECT d.* FROM (\(selected)) p CROSS JOIN LATERAL (
                    SELECT d.userId AS uid, d.deviceId, d.platform, d.provider, d.environment, d.app FROM devices d WHERE \(reachable) OFFSET 0
                ) d
            )
            SELECT \(send.sendId)::text AS sendId, l.queue, uid, deviceId, platform, provider, environment, app,
                NULL::bytea AS pushToken, NULL::bytea AS tokenHash, \(send.collapseId)::text AS collapseId, \(send.version)::bigint AS version,
                \(send.expiresAt) AS expiresAt, false AS isDirect, 0::bigint AS ordinal
            FROM reached
            JOIN unnest(\(send.kinds.map(\.provider.rawValue))::pushProvider[], \(send.kinds.map(\.platform.rawValue))::pushPlatform[],
                \(send.kinds.map(\.environment.rawValue))::pushEnvironment[], \(send.kinds.map(\.app)))
                AS k(provider, platform, environment, app) USING (provider, platform, environment, app)
            JOIN pushQueues l USING (app, provider, environment) WHERE l.class = \(send.deliveryClass.rawValue)::pushClass
            """
        guard send.collapseId == nil else {
            let stored = try NewestQueries.insert(
                rows,
                mayBeLater: send.mayBeLater,
                acceptedAs: send.acceptedAs,
                now: now,
                on: connection
            )
            return (stored.count, stored.superseded)
        }
        return (try connection.query(EnqueueQueries.insert(rows, mayBeLater: send.mayBeLater, now: now))[0].decode(Int.self), [])
    }

    /// Whether it is too much for one transaction: either too many devices, or too many people to look for few.
    func isLarge(devices: Int, _ sizes: FanOutSizes, on connection: BlockingConnection) throws -> Bool {
        if case .users = people { return false }
        return try devices > sizes.devicesAtOnce || next(sizes.devicesAtOnce + 1, on: connection).people > sizes.devicesAtOnce
    }

    /// The next people after the portion before: how many, up to a limit, and the last of them.
    func next(_ limit: Int, on connection: BlockingConnection) throws -> (people: Int, last: String?) {
        try connection.query("SELECT count(*), max(uid) FROM (SELECT uid FROM (\(selected)) p ORDER BY uid LIMIT \(limit)) portion")[0]
            .decode((Int, String?).self)
    }

    private var selected: Query {
        switch people {
        case .users(let uids): "SELECT DISTINCT unnest(\(uids)) AS uid, NULL::text AS deviceId"
        case .audience(let id):
            "SELECT uid, NULL::text AS deviceId FROM audienceMembers WHERE audienceId = \(id) AND \(uids.contains("uid"))"
        case .selected(let selection): selection.people(uids, now: now)
        }
    }

    private var reachable: Query {
        let isSelected: Query = if case .selected(let selection) = people { "AND (\(selection.includes(now: now)))" } else { "" }
        return """
            d.userId = p.uid AND d.deviceId = coalesce(p.deviceId, d.deviceId) AND d.expiresAt > \(now) AND d.tokenState <> 'inactive'
                AND (\(app)::text IS NULL OR d.app = \(app)::text) \(isSelected)
            """
    }
}

extension FanOut {
    /// Nil for sends to single targets.
    init?(_ request: SendRequest, now: Timestamp) {
        switch request.target {
        case .users(let uids, let app): self.init(people: .users(uids), app: app, now: now)
        case .audience(let id, let app): self.init(people: .audience(id), app: app, now: now)
        case .selected(let selection): self.init(people: .selected(selection), now: now)
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
