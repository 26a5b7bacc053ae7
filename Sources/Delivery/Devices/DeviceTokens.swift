package import Postgres
package import PushContract

/// What becomes of a token after an outcome; every change is a row in `tokenDeactivations` and may be undone. Runs inside the caller's
/// transaction. Callers go through `TokenFeedbackWriter`, which knows when to stop.
package enum DeviceTokens {
    /// How long a suspect token rests before it is tried again; a refusal after that deactivates it.
    package static let suspectPeriod = Duration.seconds(3600)

    /// Applies the feedback; the places of those that deactivated a token.
    ///
    /// A refusal counts only against the registration it was made with: with the provider's time, a registration up to that time;
    /// without one, the very registration the send started from. An app that registered anew meanwhile keeps its token.
    ///
    /// - Parameter deferred: by the place of the feedback, the limiter that defers the deactivation.
    package static func apply(
        _ feedbackBatch: [TokenFeedback],
        deferred: [Int: Int64] = [:],
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Set<Int> {
        var off: Set<Int> = []
        let batch = FeedbackByVerdict(feedbackBatch, deferred: deferred)
        if !batch.off.isEmpty {
            for row in try connection.query(deactivate(batch.off, now: now)) { off.insert(try row.decode((Int, String).self).0) }
        }
        if !batch.suspect.isEmpty {
            for row in try connection.query(suspect(batch.suspect, now: now)) {
                let (index, state) = try row.decode((Int, String).self)
                if state == TokenState.inactive.rawValue { off.insert(index) }
            }
        }
        if !batch.deferred.isEmpty { _ = try connection.query(deferDeactivation(batch.deferred, now: now)) }
        if !batch.valid.isEmpty { try connection.execute(clear(batch.valid, now: now)) }
        return off
    }

    private static func deactivate(_ columns: FeedbackColumns, now: Timestamp) -> Query {
        recording(
            """
            UPDATE devices d SET tokenState = 'inactive', tokenStateCause = s.cause, tokenStateSince = \(now)
            FROM \(columns.table) s, devices o
            WHERE \(matching) AND d.tokenState <> 'inactive' AND \(notRegisteredSince)
            """,
            now: now
        )
    }

    /// As for a deactivation, but under a limiter: the token rests, and a person decides.
    private static func deferDeactivation(_ columns: FeedbackColumns, now: Timestamp) -> Query {
        recording(
            """
            UPDATE devices d SET tokenState = 'suspect', tokenStateCause = s.cause, tokenStateSince = \(now)
            FROM \(columns.table) s, devices o
            WHERE \(matching) AND \(notRegisteredSince)
              AND (d.tokenState = 'active' OR (d.tokenState = 'suspect' AND d.tokenStateSince <= \(now - suspectPeriod)))
            """,
            now: now
        )
    }

    /// Leaves a row for each token that is changed; returns the place of the feedback and the token's state.
    private static func recording(_ update: Query, now: Timestamp) -> Query {
        """
        WITH changed AS (
            \(update)
            RETURNING s.index, d.userId, d.deviceId, d.pushTokenHash, d.registrationVersion, d.provider, d.app, d.environment, s.credential,
                s.verdict, o.tokenState AS previousState, d.tokenState, s.cause, s.attemptId, s.limiter
        ), noted AS (
            INSERT INTO tokenDeactivations (userId, deviceId, tokenHash, registrationVersion, provider, app, environment, credential,
                verdict, previousState, state, cause, attemptId, limiterId, deactivatedAt)
            SELECT userId, deviceId, pushTokenHash, registrationVersion, provider, app, environment, credential, verdict, previousState,
                tokenState, cause, attemptId, limiter, \(now)
            FROM changed
        )
        SELECT index, tokenState FROM changed
        """
    }

    private static func suspect(_ columns: FeedbackColumns, now: Timestamp) -> Query {
        recording(
            """
            UPDATE devices d
            SET tokenState = (CASE WHEN d.tokenState = 'suspect' THEN 'inactive' ELSE 'suspect' END)::deviceTokenState,
                tokenStateCause = s.cause, tokenStateSince = \(now)
            FROM \(columns.table) s, devices o
            WHERE \(matching) AND \(sameRegistration)
              AND (d.tokenState = 'active' OR (d.tokenState = 'suspect' AND d.tokenStateSince <= \(now - suspectPeriod)))
            """,
            now: now
        )
    }

    private static func clear(_ columns: FeedbackColumns, now: Timestamp) -> Query {
        """
        UPDATE devices d SET tokenState = 'active', tokenStateCause = NULL, tokenStateSince = \(now)
        FROM \(columns.table) s
        WHERE \(ofToken) AND d.tokenState = 'suspect'
        """
    }

    /// What APNs says of a bare token is about the environment it was sent to. A registered one may have been tried in the other, too.
    private static let ofToken: Query = """
        d.pushTokenHash = s.hash AND d.provider = s.provider::pushProvider AND d.app = s.app
            AND (s.version IS NOT NULL OR d.provider <> 'apns' OR s.environment IS NULL OR d.environment = s.environment::pushEnvironment)
        """

    /// `o` is the device as it was.
    private static let matching: Query = "\(ofToken) AND o.userId = d.userId AND o.deviceId = d.deviceId"

    private static let notRegisteredSince: Query =
        "CASE WHEN s.goneAt IS NOT NULL THEN d.tokenRegisteredAt <= s.goneAt ELSE \(sameRegistration) END"

    private static let sameRegistration: Query =
        "CASE WHEN s.version IS NOT NULL THEN d.registrationVersion = s.version ELSE d.tokenRegisteredAt < s.sentAt END"
}

/// Feedback by verdict.
struct FeedbackByVerdict {
    var off = FeedbackColumns()
    var suspect = FeedbackColumns()
    var valid = FeedbackColumns()
    var deferred = FeedbackColumns()

    /// - Parameter limiters: those that defer the deactivation, by the place of the feedback.
    init(_ feedbackBatch: [TokenFeedback], deferred limiters: [Int: Int64] = [:]) {
        // In one order everywhere: two transactions that change the same devices must not deadlock.
        let ordered = feedbackBatch.enumerated().sorted { $0.element.tokenHash.rawValue < $1.element.tokenHash.rawValue }
        for (index, feedback) in ordered {
            switch feedback.verdict {
            case .deactivate(let goneAt) where limiters[index] != nil:
                deferred.append(feedback, index: index, goneAt: goneAt, limiter: limiters[index])
            case .suspect where limiters[index] != nil:
                deferred.append(feedback, index: index, goneAt: nil, limiter: limiters[index])
            case .deactivate(let goneAt): off.append(feedback, index: index, goneAt: goneAt)
            case .suspect: suspect.append(feedback, index: index, goneAt: nil)
            case .valid: valid.append(feedback, index: index, goneAt: nil)
            }
        }
    }
}

/// Feedback as columns, for `unnest`.
struct FeedbackColumns {
    private var indexes: [Int] = []
    private var hashes: [String] = []
    private var providers: [String] = []
    private var apps: [String] = []
    private var environments: [String?] = []
    private var causes: [String] = []
    private var versions: [Int64?] = []
    private var sentAts: [Timestamp] = []
    private var goneAts: [Timestamp?] = []
    private var credentials: [String] = []
    private var attemptIds: [String?] = []
    private var verdicts: [String] = []
    private var limiters: [Int64?] = []

    var isEmpty: Bool { indexes.isEmpty }

    mutating func append(_ feedback: TokenFeedback, index: Int, goneAt: Timestamp?, limiter: Int64? = nil) {
        indexes.append(index)
        hashes.append(feedback.tokenHash.rawValue)
        providers.append(feedback.provider.rawValue)
        apps.append(feedback.app)
        environments.append(feedback.environment?.rawValue)
        causes.append(feedback.cause)
        versions.append(feedback.registrationVersion)
        sentAts.append(feedback.sentAt)
        goneAts.append(goneAt)
        credentials.append(feedback.credential ?? "")
        attemptIds.append(feedback.attemptId)
        if case .deactivate = feedback.verdict { verdicts.append("inactive") } else { verdicts.append("suspect") }
        limiters.append(limiter)
    }

    var table: Query {
        """
        (SELECT * FROM unnest(\(indexes), \(hashes), \(providers), \(apps), \(environments), \(causes), \(versions), \(sentAts),
            \(goneAts), \(credentials), \(attemptIds), \(verdicts), \(limiters))
            AS t(index, hash, provider, app, environment, cause, version, sentAt, goneAt, credential, attemptId, verdict, limiter))
        """
    }
}
