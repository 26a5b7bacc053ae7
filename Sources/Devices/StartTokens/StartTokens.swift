package import Postgres
package import PushContract

/// The guard of start tokens: the same rules as `DeviceTokens`, on the device's other token, and never across.
package enum StartTokens {
    /// Applies the strikes and returns the places of those that switched a start token off.
    ///
    /// `registrationVersion` is `StartTarget.version`: a device that registered a start token anew meanwhile keeps it. With the
    /// provider's time (a 410's) it counts against a registration up to that time. A token that goes off is forgotten; its hash stays.
    ///
    /// - Parameter withheld: the breaker, by the strike's place, under which a token rests instead of being switched off.
    package static func apply(
        _ strikes: [TokenStrike],
        withheld: [Int: Int64] = [:],
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Set<Int> {
        var off: Set<Int> = []
        let batch = StrikeBatch(strikes, withheld: withheld)
        if !batch.off.isEmpty {
            for row in try connection.query(switchOff(batch.off, now: now)) { off.insert(try row.decode(Int.self)) }
        }
        if !batch.suspect.isEmpty {
            for row in try connection.query(suspect(batch.suspect, now: now)) {
                let (index, state) = try row.decode(Int.self, String.self)
                if state == TokenState.off.rawValue { off.insert(index) }
            }
        }
        if !batch.withheld.isEmpty { try connection.execute(putAside(batch.withheld, now: now)) }
        if !batch.proven.isEmpty { try connection.execute(clear(batch.proven, now: now)) }
        return off
    }

    private static func switchOff(_ columns: StrikeColumns, now: Timestamp) -> Query {
        """
        UPDATE devices d SET pushToStartToken = NULL, pushToStartTokenState = 'off', pushToStartTokenCause = s.cause,
            pushToStartTokenSince = \(now)
        FROM \(columns.table) s
        WHERE \(matching) AND d.pushToStartTokenState <> 'off'
          AND \(notRegisteredSince)
        RETURNING s.place
        """
    }

    private static func suspect(_ columns: StrikeColumns, now: Timestamp) -> Query {
        """
        UPDATE devices d
        SET pushToStartToken = CASE WHEN d.pushToStartTokenState = 'suspect' THEN NULL ELSE d.pushToStartToken END,
            pushToStartTokenState = (CASE WHEN d.pushToStartTokenState = 'suspect' THEN 'off' ELSE 'suspect' END)::deviceTokenState,
            pushToStartTokenCause = s.cause, pushToStartTokenSince = \(now)
        FROM \(columns.table) s
        WHERE \(matching) AND \(sameRegistration)
          AND (d.pushToStartTokenState = 'active'
            OR (d.pushToStartTokenState = 'suspect' AND d.pushToStartTokenSince <= \(now - DeviceTokens.suspicion)))
        RETURNING s.place, d.pushToStartTokenState
        """
    }

    /// As suspect, and kept: under a breaker no token is forgotten.
    private static func putAside(_ columns: StrikeColumns, now: Timestamp) -> Query {
        """
        UPDATE devices d SET pushToStartTokenState = 'suspect', pushToStartTokenCause = s.cause, pushToStartTokenSince = \(now)
        FROM \(columns.table) s
        WHERE \(matching) AND \(notRegisteredSince)
          AND (d.pushToStartTokenState = 'active'
            OR (d.pushToStartTokenState = 'suspect' AND d.pushToStartTokenSince <= \(now - DeviceTokens.suspicion)))
        """
    }

    private static func clear(_ columns: StrikeColumns, now: Timestamp) -> Query {
        """
        UPDATE devices d SET pushToStartTokenState = 'active', pushToStartTokenCause = NULL, pushToStartTokenSince = \(now)
        FROM \(columns.table) s
        WHERE \(matching) AND d.pushToStartTokenState = 'suspect'
        """
    }

    private static let matching: Query = "d.pushToStartTokenHash = s.hash AND d.provider = s.provider::pushProvider AND d.app = s.app"

    private static let notRegisteredSince: Query =
        "CASE WHEN s.goneAt IS NOT NULL THEN d.pushToStartRegisteredAt <= s.goneAt ELSE \(sameRegistration) END"

    private static let sameRegistration: Query =
        "CASE WHEN s.version IS NOT NULL THEN d.pushToStartVersion = s.version ELSE d.pushToStartRegisteredAt < s.sentAt END"
}
