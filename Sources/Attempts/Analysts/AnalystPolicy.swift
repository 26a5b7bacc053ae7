/// A session of an analyst, as the server reports it. Ages are the database's, so clocks need not agree.
package struct AnalystSession: Sendable, Hashable {
    package enum Activity: Sendable, Hashable {
        /// A statement runs.
        case active
        /// A transaction is open, nothing runs in it.
        case idleInTransaction
        case idle
    }

    package var pid: Int32 = 0
    /// Distinguishes the session from a later one with the same pid.
    package var startedAt: String = ""
    package var user: String = "pushwatch_analyst"
    package var activity: Activity
    /// Since the running statement began.
    var statementAge: Duration = .zero
    /// Since the open transaction began.
    var transactionAge: Duration = .zero
    /// How many transactions the rows that cleanup must keep for this session reach back.
    var xminAge: Int64 = 0
    /// The longest time that another session has waited for a lock of this one.
    var blockingFor: Duration = .zero
}

/// What an analyst's session may do before it is ended, and what is done then. No memory: the same session, looked at again later,
/// is treated more harshly by its age alone.
package struct AnalystPolicy: Sendable {
    package enum Verdict: Sendable, Hashable {
        case leave
        /// The statement is cancelled, the session lives on.
        case cancel(Cause)
        /// The session is ended.
        case terminate(Cause)
    }

    package enum Cause: String, Sendable {
        case statementTooLong = "its statement runs too long"
        case transactionTooLong = "its transaction is open too long"
        case preventsVacuum = "its snapshot prevents vacuum from removing dead rows"
        case blocksOthers = "others wait for its locks"
    }

    /// The same as the role's statement_timeout, which a user can lift.
    var statementLimit: Duration = .seconds(60)
    var transactionLimit: Duration = .seconds(120)
    var xminAgeLimit: Int64 = 500_000
    var blockingLimit: Duration = .seconds(2)
    /// How long after a limit a cancelled statement may still run before its session is ended.
    package var waitLimit: Duration = .seconds(10)

    package init() {}

    /// Cancelling is enough for a running statement, since it ends its transaction; a session that is idle within one, or that did not
    /// observe the cancel, is ended.
    package func verdict(on session: AnalystSession) -> Verdict {
        // Outside a transaction, too, a session may hold an advisory lock.
        guard session.activity != .idle || session.blockingFor > blockingLimit else { return .leave }
        guard let (cause, overdue) = breach(session) else { return .leave }
        guard session.activity == .active, overdue < waitLimit else { return .terminate(cause) }
        return .cancel(cause)
    }

    /// The limit that is broken, and for how long it has been.
    private func breach(_ session: AnalystSession) -> (Cause, Duration)? {
        if session.blockingFor > blockingLimit { return (.blocksOthers, session.blockingFor - blockingLimit) }
        if session.transactionAge > transactionLimit { return (.transactionTooLong, session.transactionAge - transactionLimit) }
        if session.activity == .active, session.statementAge > statementLimit {
            return (.statementTooLong, session.statementAge - statementLimit)
        }
        // How long it has been so is not known: cancelled as often as need be, until its age ends it.
        if session.xminAge > xminAgeLimit { return (.preventsVacuum, .zero) }
        return nil
    }
}
