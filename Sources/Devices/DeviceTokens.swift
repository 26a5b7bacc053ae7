package import Postgres
package import PushContract

/// The guard every token action goes through. Runs inside the caller's transaction.
package enum DeviceTokens {
    /// How long a suspect token rests before it is tried again; a strike after that switches it off.
    package static let suspicion = Duration.seconds(3600)

    /// Applies the strikes and returns the places of those that switched a token off.
    ///
    /// A strike counts only against the registration it was made with: with the provider's time, a registration up to that time;
    /// without one, the very registration the send started from. An app that registered anew meanwhile keeps its token.
    package static func apply(_ strikes: [TokenStrike], on connection: BlockingConnection, now: Timestamp) throws -> Set<Int> {
        var off: Set<Int> = []
        let batch = StrikeBatch(strikes)
        if !batch.off.isEmpty {
            for row in try connection.query(switchOff(batch.off, now: now)) { off.insert(try row.decode(Int.self)) }
        }
        if !batch.suspect.isEmpty {
            for row in try connection.query(suspect(batch.suspect, now: now)) {
                let (index, state) = try row.decode(Int.self, String.self)
                if state == TokenState.off.rawValue { off.insert(index) }
            }
        }
        if !batch.proven.isEmpty { try connection.execute(clear(batch.proven, now: now)) }
        return off
    }

    private static func switchOff(_ columns: StrikeColumns, now: Timestamp) -> Query {
        """
        UPDATE devices d SET tokenState = 'off', tokenStateCause = s.cause, tokenStateSince = \(now)
        FROM \(columns.table) s
        WHERE \(matching) AND d.tokenState <> 'off'
          AND CASE WHEN s.goneAt IS NOT NULL THEN d.tokenRegisteredAt <= s.goneAt ELSE \(sameRegistration) END
        RETURNING s.place
        """
    }

    private static func suspect(_ columns: StrikeColumns, now: Timestamp) -> Query {
        """
        UPDATE devices d
        SET tokenState = (CASE WHEN d.tokenState = 'suspect' THEN 'off' ELSE 'suspect' END)::deviceTokenState,
            tokenStateCause = s.cause, tokenStateSince = \(now)
        FROM \(columns.table) s
        WHERE \(matching) AND \(sameRegistration)
          AND (d.tokenState = 'active' OR (d.tokenState = 'suspect' AND d.tokenStateSince <= \(now - suspicion)))
        RETURNING s.place, d.tokenState
        """
    }

    private static func clear(_ columns: StrikeColumns, now: Timestamp) -> Query {
        """
        UPDATE devices d SET tokenState = 'active', tokenStateCause = NULL, tokenStateSince = \(now)
        FROM \(columns.table) s
        WHERE \(matching) AND d.tokenState = 'suspect'
        """
    }

    private static let matching: Query = "d.pushTokenHash = s.hash AND d.provider = s.provider::pushProvider AND d.app = s.app"

    private static let sameRegistration: Query =
        "CASE WHEN s.version IS NOT NULL THEN d.registrationVersion = s.version ELSE d.tokenRegisteredAt < s.sentAt END"
}

/// Strikes by verdict.
private struct StrikeBatch {
    var off = StrikeColumns()
    var suspect = StrikeColumns()
    var proven = StrikeColumns()

    init(_ strikes: [TokenStrike]) {
        // In one order everywhere: two transactions that strike the same devices must not wait for each other in a circle.
        let ordered = strikes.enumerated().sorted { $0.element.tokenHash.rawValue < $1.element.tokenHash.rawValue }
        for (place, strike) in ordered {
            switch strike.verdict {
            case .off(let goneAt): off.append(strike, place: place, goneAt: goneAt)
            case .suspect: suspect.append(strike, place: place, goneAt: nil)
            case .proven: proven.append(strike, place: place, goneAt: nil)
            }
        }
    }
}

/// Strikes as columns, for `unnest`.
private struct StrikeColumns {
    private var places: [Int] = []
    private var hashes: [String] = []
    private var providers: [String] = []
    private var apps: [String] = []
    private var causes: [String] = []
    private var versions: [Int64?] = []
    private var sentAts: [Timestamp] = []
    private var goneAts: [Timestamp?] = []

    var isEmpty: Bool { places.isEmpty }

    mutating func append(_ strike: TokenStrike, place: Int, goneAt: Timestamp?) {
        places.append(place)
        hashes.append(strike.tokenHash.rawValue)
        providers.append(strike.provider.rawValue)
        apps.append(strike.app)
        causes.append(strike.cause)
        versions.append(strike.registrationVersion)
        sentAts.append(strike.sentAt)
        goneAts.append(goneAt)
    }

    var table: Query {
        """
        (SELECT * FROM unnest(\(places), \(hashes), \(providers), \(apps), \(causes), \(versions), \(sentAts), \(goneAts))
            AS t(place, hash, provider, app, cause, version, sentAt, goneAt))
        """
    }
}
