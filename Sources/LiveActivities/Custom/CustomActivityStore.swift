import Delivery
import HTTPServer
package import Postgres
import PushContract

/// Subjects of registered types in PostgreSQL: what services say about them. The orchestrator and the fan-out treat them as they treat
/// matches. Safe to use from any task.
package struct CustomActivityStore: Sendable {
    private let pool: PostgresPool
    private let policy: StartPolicy

    package init(pool: PostgresPool, policy: StartPolicy = StartPolicy()) {
        self.pool = pool
        self.policy = policy
    }

    enum StartResult: Sendable, Hashable {
        case started(devices: Int)
        /// The same start came before.
        case repeated(SubjectProgress, devices: Int)
        /// Another start has this activityId.
        case conflict
        case unknownTarget
        /// Registered, and no Live Activity can be started there by a push: no start token, or iOS below 17.2.
        case unreachable
    }

    /// Stores a subject whose followers are those it is addressed to, with their pending activities; all or nothing.
    func start(_ start: CustomStart, type: AttributesType, now: Timestamp) async throws -> StartResult {
        let subject = SubjectName.of(attributesType: type.name, activityId: start.activityId)
        do {
            return try await pool.performTransaction { [policy] connection in
                let known = try connection.query(CustomQueries.devices(start, now: now))
                guard !known.isEmpty else { return .unknownTarget }
                let made = try connection.execute(CustomQueries.insert(start.state, subject: subject, type: type, now: now))
                if made == 0 {
                    guard try !connection.query(CustomQueries.isSame(start, subject: subject, now: now)).isEmpty else { return .conflict }
                    let progress = try SubjectProgress.find(subject, type: type, policy, on: connection, now: now)
                    let devices =
                        try connection.query(CustomQueries.devicesReached(subject))[0].decode(Int.self)
                        + CustomActivityStore.otherDevices(of: subject, type: type, on: connection, now: now)
                    return .repeated(progress, devices: devices)
                }
                try connection.execute(CustomQueries.address(start, subject: subject, now: now))
                let devices =
                    try connection.execute(PendingActivities.create(subject, policy, now: now))
                    + CustomActivityStore.otherDevices(of: subject, type: type, on: connection, now: now)
                guard devices > 0 else { throw UnreachableTargets() }
                try CustomActivityStore.checkSize(subject, on: connection, now: now)
                return .started(devices: devices)
            }
        } catch is UnreachableTargets {
            return .unreachable
        }
    }

    private struct UnreachableTargets: Error {}

    /// How many Android devices and browsers get pushes of the subject instead of a Live Activity. An iOS device that cannot be started
    /// does not count: a start for it alone is a mistake that its caller can correct.
    private static func otherDevices(
        of subject: String,
        type: AttributesType,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Int {
        var kinds: [Query] = []
        if type.otherDevices.android != .none { kinds.append(OtherDevicesQueries.isAndroid) }
        if type.otherDevices.others != .none { kinds.append("d.platform = 'web'") }
        guard !kinds.isEmpty else { return 0 }
        let followers = OtherDevicesQueries.followers(of: subject, now: now)
        let isCounted = kinds.dropFirst().reduce(kinds[0]) { "\($0) OR \($1)" as Query }
        return try connection.query("SELECT count(*) FROM \(followers) AND d.tokenState <> 'inactive' AND (\(isCounted))")[0].decode(
            Int.self
        )
    }

    struct UpdateResult: Sendable, Hashable {
        var progress: SubjectProgress
        /// Nil: the update brings no alert.
        var alertsWaiting: Int?
    }

    /// Nil: there is none of this name. One that has ended is a conflict. An activity that nobody has or will get any more is a conflict,
    /// and not updated.
    func update(_ update: CustomUpdate, type: AttributesType, now: Timestamp) async throws -> UpdateResult? {
        let subject = SubjectName.of(attributesType: type.name, activityId: update.activityId)
        return try await pool.performTransaction { [policy] connection in
            guard let alertsWaiting = try CustomActivityStore.take(update, subject: subject, on: connection, now: now) else {
                if try CustomActivityStore.isKnown(subject, on: connection) { throw CustomActivityStore.hasEnded }
                return nil
            }
            let progress = try SubjectProgress.find(subject, type: type, policy, on: connection, now: now)
            guard progress != .ended else { throw CustomActivityStore.endedForAll }
            return UpdateResult(progress: progress, alertsWaiting: alertsWaiting.count)
        }
    }

    /// False: there is none of this name. Ending twice is fine.
    func end(_ end: CustomEnd, type: AttributesType, now: Timestamp) async throws -> Bool {
        let subject = SubjectName.of(attributesType: type.name, activityId: end.activityId)
        return try await pool.performTransaction { connection in
            guard try CustomActivityStore.write(end, subject: subject, on: connection, now: now) else {
                return try CustomActivityStore.isKnown(subject, on: connection)
            }
            return true
        }
    }

    private static func isKnown(_ subject: String, on connection: BlockingConnection) throws -> Bool {
        try !connection.query("SELECT 1 FROM activitySubjects WHERE subject = \(subject)").isEmpty
    }

    enum PutResult: String, Sendable, Hashable {
        case created
        case accepted
        /// The same state again: nothing is sent.
        case unchanged
        /// Its number is not above the one that is known; ignored.
        case stale
        case ended
    }

    /// Takes in the state of a subject, makes one, or ends it. Throws `Problem` for what contradicts the subject there is.
    ///
    /// - Returns: what became of it, and how many earlier alerts some device was not sent yet, if it brings an alert.
    func put(_ put: SubjectPut, type: AttributesType, now: Timestamp) async throws -> (result: PutResult, alertsWaiting: Int?) {
        let subject = SubjectName.of(attributesType: type.name, activityId: put.update.activityId)
        return try await pool.performTransaction { [policy] connection in
            while true {
                guard let stored = try CustomActivityStore.locked(subject, for: put.update, on: connection, now: now) else {
                    // Another call may make it meanwhile: then this state follows it.
                    guard try connection.execute(CustomQueries.insert(try put.first(), subject: subject, type: type, now: now)) == 1 else {
                        continue
                    }
                    try CustomActivityStore.checkSize(subject, alert: put.update.alert, on: connection, now: now)
                    try CustomActivityStore.insert(put.update, of: subject, on: connection, now: now)
                    try connection.execute(PendingActivities.create(subject, policy, now: now))
                    return (.created, nil)
                }
                let verdict = try put.verdict(on: stored)
                if verdict.confirms { try connection.execute(CustomQueries.confirm("subject = \(subject)", now: now)) }
                switch verdict {
                case .stale: return (.stale, nil)
                case .unchanged:
                    // What has an earlier number is older than this confirmation.
                    try connection.execute(CustomQueries.note(put, subject: subject))
                    return (.unchanged, nil)
                case .end(let end):
                    _ = try CustomActivityStore.write(end, subject: subject, on: connection, now: now)
                    return (.ended, nil)
                case .update:
                    let waiting = try CustomActivityStore.write(put.update, subject: subject, on: connection, now: now)
                    try connection.execute(CustomQueries.note(put, subject: subject))
                    return (.accepted, waiting?.count)
                }
            }
        }
    }

    private struct AlertsWaiting {
        var count: Int?
    }

    private static func locked(
        _ subject: String,
        for update: CustomUpdate,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> StoredState? {
        guard var stored = try connection.query(CustomQueries.lock(subject)).first.map(StoredState.init) else { return nil }
        if update.alert != nil {
            stored.lastAlert = try connection.query(CustomQueries.lastAlert(of: subject, now: now)).first.map(AlertQueries.read)?.alert
        }
        return stored
    }

    /// Writes an update, unless it repeats the last alert. Nil: no such subject runs.
    private static func take(
        _ update: CustomUpdate,
        subject: String,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> AlertsWaiting? {
        guard let stored = try locked(subject, for: update, on: connection, now: now), stored.isRepeated(by: update) else {
            return try write(update, subject: subject, on: connection, now: now)
        }
        try connection.execute(CustomQueries.confirm("subject = \(subject)", now: now))
        // As long as any waits, this one does, too.
        let waiting = try connection.query(CustomQueries.alertsWaiting(of: subject, now: now))[0].decode(Int.self)
        return AlertsWaiting(count: max(0, waiting - 1))
    }

    /// Nil: no such subject runs.
    private static func write(
        _ update: CustomUpdate,
        subject: String,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> AlertsWaiting? {
        guard try connection.execute(CustomQueries.update(update, subject: subject, now: now)) == 1 else { return nil }
        try checkSize(subject, alert: update.alert, on: connection, now: now)
        guard update.alert != nil else { return AlertsWaiting() }
        let waiting = try connection.query(CustomQueries.alertsWaiting(of: subject, now: now))[0].decode(Int.self)
        try insert(update, of: subject, on: connection, now: now)
        return AlertsWaiting(count: waiting)
    }

    /// Inserts the alert of the state that was just stored, if it has one.
    private static func insert(_ update: CustomUpdate, of subject: String, on connection: BlockingConnection, now: Timestamp) throws {
        guard let alert = update.alert else { return }
        try connection.execute(CustomQueries.insert(alert, priority: update.isCritical ? 1 : 2, of: subject, now: now))
    }

    /// False: no such subject runs.
    private static func write(_ end: CustomEnd, subject: String, on connection: BlockingConnection, now: Timestamp) throws -> Bool {
        guard try connection.execute(CustomQueries.end("subject = \(subject)", with: end, now: now)) == 1 else { return false }
        try checkSize(subject, alert: end.alert, on: connection, now: now)
        if let alert = end.alert { try connection.execute(CustomQueries.insert(alert, priority: 1, of: subject, now: now)) }
        return true
    }

    /// Refuses, with the whole transaction, what no provider would take.
    private static func checkSize(
        _ subject: String,
        alert: LiveSubject.Alert? = nil,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws {
        let row = try connection.query("SELECT \(raw: LiveSubject.customColumns) FROM activitySubjects WHERE subject = \(subject)")[0]
        try CustomActivity.checkSize(try LiveSubject(custom: row), alert: alert, now: now)
    }

    private static let hasEnded = Problem.conflict(
        "This activity has ended. Start one with another activityId.",
        code: "activity_ended"
    )

    private static let endedForAll = Problem.conflict(
        "No device shows this activity any more, and none will: it was dismissed, unfollowed or could not be started again. "
            + "GET /live/{type}/{id} says why for each. Start one with another activityId.",
        code: "activity_ended"
    )
}
