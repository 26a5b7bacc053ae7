import Postgres
import PushContract

/// Where start tokens are stored, and what feedback does to them there: with the device, and by attributes type.
struct StartTokenTable {
    private let table: String
    private let token: String
    private let hash: String
    private let state: String
    private let cause: String
    private let since: String
    private let registeredAt: String
    private let version: String

    static let all = [
        StartTokenTable(
            table: "devices",
            token: "pushToStartToken",
            hash: "pushToStartTokenHash",
            state: "pushToStartTokenState",
            cause: "pushToStartTokenCause",
            since: "pushToStartTokenSince",
            registeredAt: "pushToStartRegisteredAt",
            version: "pushToStartVersion"
        ),
        StartTokenTable(
            table: "deviceStartTokens",
            token: "token",
            hash: "tokenHash",
            state: "state",
            cause: "cause",
            since: "since",
            registeredAt: "registeredAt",
            version: "version"
        ),
    ]

    func deactivate(_ columns: FeedbackColumns, now: Timestamp) -> Query {
        """
        UPDATE \(raw: table) d SET \(raw: token) = NULL, \(raw: state) = 'inactive', \(raw: cause) = s.cause, \(raw: since) = \(now)
        FROM \(columns.table) s
        WHERE \(matching) AND d.\(raw: state) <> 'inactive' AND \(notRegisteredSince)
        RETURNING s.index
        """
    }

    func suspect(_ columns: FeedbackColumns, now: Timestamp) -> Query {
        """
        UPDATE \(raw: table) d
        SET \(raw: token) = CASE WHEN d.\(raw: state) = 'suspect' THEN NULL ELSE d.\(raw: token) END,
            \(raw: state) = (CASE WHEN d.\(raw: state) = 'suspect' THEN 'inactive' ELSE 'suspect' END)::deviceTokenState,
            \(raw: cause) = s.cause, \(raw: since) = \(now)
        FROM \(columns.table) s
        WHERE \(matching) AND \(sameRegistration) AND \(isUsable(now))
        RETURNING s.index, d.\(raw: state)
        """
    }

    /// As suspect, and kept: under a limiter no token is forgotten.
    func deferDeactivation(_ columns: FeedbackColumns, now: Timestamp) -> Query {
        """
        UPDATE \(raw: table) d SET \(raw: state) = 'suspect', \(raw: cause) = s.cause, \(raw: since) = \(now)
        FROM \(columns.table) s WHERE \(matching) AND \(notRegisteredSince) AND \(isUsable(now))
        """
    }

    func clear(_ columns: FeedbackColumns, now: Timestamp) -> Query {
        """
        UPDATE \(raw: table) d SET \(raw: state) = 'active', \(raw: cause) = NULL, \(raw: since) = \(now)
        FROM \(columns.table) s WHERE \(matching) AND d.\(raw: state) = 'suspect'
        """
    }

    private func isUsable(_ now: Timestamp) -> Query {
        """
        (d.\(raw: state) = 'active' OR (d.\(raw: state) = 'suspect' AND d.\(raw: since) <= \(now - DeviceTokens.suspectPeriod)))
        """
    }

    /// Start tokens are always APNs', also for a device that is registered with FCM. As with push tokens, what is said of a bare one is
    /// about the environment it was sent to.
    private var matching: Query {
        """
        d.\(raw: hash) = s.hash AND s.provider = 'apns' AND d.app = s.app
            AND (s.version IS NOT NULL OR s.environment IS NULL OR s.environment::pushEnvironment =
                (SELECT environment FROM devices owner WHERE owner.userId = d.userId AND owner.deviceId = d.deviceId))
        """
    }

    private var notRegisteredSince: Query {
        "CASE WHEN s.goneAt IS NOT NULL THEN d.\(raw: registeredAt) <= s.goneAt ELSE \(sameRegistration) END"
    }

    private var sameRegistration: Query {
        "CASE WHEN s.version IS NOT NULL THEN d.\(raw: version) = s.version ELSE d.\(raw: registeredAt) < s.sentAt END"
    }
}
