package import Postgres
package import PushContract

/// What becomes of a token after an outcome; every change is a row in `tokenDeactivations` and may be undone. Runs inside the caller's
/// transaction. Callers go through `TokenGuard`, which knows when to stop.
package enum DeviceTokens {
    /// How long a suspect token rests before it is tried again; a strike after that switches it off.
    package static let suspicion = Duration.seconds(3600)

    /// Applies the strikes and returns the places of those that switched a token off.
    ///
    /// A strike counts only against the registration it was made with: with the provider's time, a registration up to that time;
    /// without one, the very registration the send started from. An app that registered anew meanwhile keeps its token.
    ///
    /// - Parameter withheld: the breaker, by the strike's place, under which a token is put aside instead of switched off.
    package static func apply(
        _ strikes: [TokenStrike],
        withheld: [Int: Int64] = [:],
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Set<Int> {
        var off: Set<Int> = []
        let batch = StrikeBatch(strikes, withheld: withheld)
        if !batch.off.isEmpty {
            for row in try connection.query(switchOff(batch.off, now: now)) { off.insert(try row.decode((Int, String).self).0) }
        }
        if !batch.suspect.isEmpty {
            for row in try connection.query(suspect(batch.suspect, now: now)) {
                let (index, state) = try row.decode((Int, String).self)
                if state == TokenState.off.rawValue { off.insert(index) }
            }
        }
        if !batch.withheld.isEmpty { _ = try connection.query(putAside(batch.withheld, now: now)) }
        if !batch.proven.isEmpty { try connection.execute(clear(batch.proven, now: now)) }
        return off
    }

    private static func switchOff(_ columns: StrikeColumns, now: Timestamp) -> Query {
        noting(
            """
            UPDATE devices d SET tokenState = 'off', tokenStateCause = s.cause, tokenStateSince = \(now)
            FROM \(columns.table) s, devices o
            WHERE \(matching) AND d.tokenState <> 'off' AND \(notRegisteredSince)
            """,
            now: now
        )
    }

    /// As off, but under a breaker: it rests, and a person decides.
    private static func putAside(_ columns: StrikeColumns, now: Timestamp) -> Query {
        noting(
            """
            UPDATE devices d SET tokenState = 'suspect', tokenStateCause = s.cause, tokenStateSince = \(now)
            FROM \(columns.table) s, devices o
            WHERE \(matching) AND \(notRegisteredSince)
              AND (d.tokenState = 'active' OR (d.tokenState = 'suspect' AND d.tokenStateSince <= \(now - suspicion)))
            """,
            now: now
        )
    }

    /// Leaves a row for each token that is changed; returns the strike's place and the token's state.
    private static func noting(_ update: Query, now: Timestamp) -> Query {
        """
        WITH changed AS (
            \(update)
            RETURNING s.place, d.userId, d.deviceId, d.pushTokenHash, d.registrationVersion, d.provider, d.app, d.environment, s.credential,
                s.verdict, o.tokenState AS previousState, d.tokenState, s.cause, s.attemptId, s.breaker
        ), noted AS (
            INSERT INTO tokenDeactivations (userId, deviceId, tokenHash, registrationVersion, provider, app, environment, credential,
                verdict, previousState, state, cause, attemptId, breakerId, deactivatedAt)
            SELECT userId, deviceId, pushTokenHash, registrationVersion, provider, app, environment, credential, verdict, previousState,
                tokenState, cause, attemptId, breaker, \(now)
            FROM changed
        )
        SELECT place, tokenState FROM changed
        """
    }

    private static func suspect(_ columns: StrikeColumns, now: Timestamp) -> Query {
        noting(
            """
            UPDATE devices d
            SET tokenState = (CASE WHEN d.tokenState = 'suspect' THEN 'off' ELSE 'suspect' END)::deviceTokenState,
                tokenStateCause = s.cause, tokenStateSince = \(now)
            FROM \(columns.table) s, devices o
            WHERE \(matching) AND \(sameRegistration)
              AND (d.tokenState = 'active' OR (d.tokenState = 'suspect' AND d.tokenStateSince <= \(now - suspicion)))
            """,
            now: now
        )
    }

    private static func clear(_ columns: StrikeColumns, now: Timestamp) -> Query {
        """
        UPDATE devices d SET tokenState = 'active', tokenStateCause = NULL, tokenStateSince = \(now)
        FROM \(columns.table) s
        WHERE \(ofToken) AND d.tokenState = 'suspect'
        """
    }

    private static let ofToken: Query = "d.pushTokenHash = s.hash AND d.provider = s.provider::pushProvider AND d.app = s.app"

    /// `o` is the device as it was.
    private static let matching: Query = "\(ofToken) AND o.userId = d.userId AND o.deviceId = d.deviceId"

    private static let notRegisteredSince: Query =
        "CASE WHEN s.goneAt IS NOT NULL THEN d.tokenRegisteredAt <= s.goneAt ELSE \(sameRegistration) END"

    private static let sameRegistration: Query =
        "CASE WHEN s.version IS NOT NULL THEN d.registrationVersion = s.version ELSE d.tokenRegisteredAt < s.sentAt END"
}

/// Strikes by verdict.
struct StrikeBatch {
    var off = StrikeColumns()
    var suspect = StrikeColumns()
    var proven = StrikeColumns()
    var withheld = StrikeColumns()

    /// - Parameter breakers: those that keep a strike, by its place, from switching off.
    init(_ strikes: [TokenStrike], withheld breakers: [Int: Int64] = [:]) {
        // In one order everywhere: two transactions that strike the same devices must not wait for each other in a circle.
        let ordered = strikes.enumerated().sorted { $0.element.tokenHash.rawValue < $1.element.tokenHash.rawValue }
        for (place, strike) in ordered {
            switch strike.verdict {
            case .off(let goneAt) where breakers[place] != nil:
                withheld.append(strike, place: place, goneAt: goneAt, breaker: breakers[place])
            case .suspect where breakers[place] != nil:
                withheld.append(strike, place: place, goneAt: nil, breaker: breakers[place])
            case .off(let goneAt): off.append(strike, place: place, goneAt: goneAt)
            case .suspect: suspect.append(strike, place: place, goneAt: nil)
            case .proven: proven.append(strike, place: place, goneAt: nil)
            }
        }
    }
}

/// Strikes as columns, for `unnest`.
struct StrikeColumns {
    private var places: [Int] = []
    private var hashes: [String] = []
    private var providers: [String] = []
    private var apps: [String] = []
    private var causes: [String] = []
    private var versions: [Int64?] = []
    private var sentAts: [Timestamp] = []
    private var goneAts: [Timestamp?] = []
    private var credentials: [String] = []
    private var attemptIds: [String?] = []
    private var verdicts: [String] = []
    private var breakers: [Int64?] = []

    var isEmpty: Bool { places.isEmpty }

    mutating func append(_ strike: TokenStrike, place: Int, goneAt: Timestamp?, breaker: Int64? = nil) {
        places.append(place)
        hashes.append(strike.tokenHash.rawValue)
        providers.append(strike.provider.rawValue)
        apps.append(strike.app)
        causes.append(strike.cause)
        versions.append(strike.registrationVersion)
        sentAts.append(strike.sentAt)
        goneAts.append(goneAt)
        credentials.append(strike.credential ?? "")
        attemptIds.append(strike.attemptId)
        if case .off = strike.verdict { verdicts.append("off") } else { verdicts.append("suspect") }
        breakers.append(breaker)
    }

    var table: Query {
        """
        (SELECT * FROM unnest(\(places), \(hashes), \(providers), \(apps), \(causes), \(versions), \(sentAts), \(goneAts),
            \(credentials), \(attemptIds), \(verdicts), \(breakers))
            AS t(place, hash, provider, app, cause, version, sentAt, goneAt, credential, attemptId, verdict, breaker))
        """
    }
}
