import Delivery
import Postgres
import PushContract

/// Puts what is due to devices without Live Activities into the send queue: one send for each kind of devices, with a delivery for each.
///
/// The send is stored in one transaction with the subject's progress, which is locked: after a restart, or with two instances at once,
/// nothing is put there twice. Safe to use from any task.
package struct OtherDevicesStore: Sendable {
    private let pool: PostgresPool
    private let types: AttributesTypes
    private let sizes: FanOutSizes

    init(pool: PostgresPool, types: AttributesTypes = AttributesTypes(), sizes: FanOutSizes = FanOutSizes()) {
        self.pool = pool
        self.types = types
        self.sizes = sizes
    }

    struct Result: Sendable {
        var progress: OtherDevicesProgress
        /// How many deliveries were stored.
        var deliveries = 0
    }

    /// - Parameters:
    ///   - owner: nothing is done unless it leases the subject.
    ///   - since: when it was last looked for new followers and devices; nil: not now.
    func send(
        _ id: String,
        owner: String,
        newcomersSince since: Timestamp?,
        check: @escaping SendStore.PayloadCheck,
        now: Timestamp
    ) async throws -> Result? {
        try await pool.performTransaction { [self] connection in
            try connection.execute(OtherDevicesQueries.make(id))
            let progress = try OtherDevicesProgress(connection.query(OtherDevicesQueries.lock(id))[0])
            guard let subject = try OtherDevicesStore.leased(id, owner: owner, on: connection) else { return nil }
            let alerts = try connection.query(AlertQueries.recent(of: subject, now: now)).map(AlertQueries.read)
            let policy = types.policy(of: subject.attributesType)
            let isStoring = try SendStore.isStoring([progress.liveUpdateSendId].compactMap(\.self), on: connection)
            if let due = OtherDevicesDecision(subject, alerts: alerts, after: progress, policy, isStoring: isStoring, now: now) {
                return try store(due, of: subject, after: progress, policy, check: check, on: connection, now: now)
            }
            guard let since else { return Result(progress: progress) }
            return try catchUp(subject, after: progress, policy, since: since, check: check, on: connection, now: now)
        }
    }

    /// Subjects that somebody with an Android device has followed since then, or whose followers have registered one.
    func withNewcomers(since: Timestamp) async throws -> [String] {
        try await pool.query(OtherDevicesQueries.withNewcomers(since: since)).map { try $0.decode(String.self) }
    }

    private func store(
        _ due: OtherDevicesDecision,
        of subject: LiveSubject,
        after earlier: OtherDevicesProgress,
        _ policy: OtherDevicesPolicy,
        check: SendStore.PayloadCheck,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Result {
        var result = Result(progress: due.progress)
        let order = due.progress.sentOrder
        let expiresAt = due.expiry(subject, after: earlier.sentAt, now: now)
        var suffix = "\(subject.timestamp)"
        var end: LiveUpdateMessage.End?
        if case .end(let reason, let cause) = due.event {
            // The state may have been sent before it was the last one.
            suffix += "~end"
            // A correction keeps the card on the screen no longer.
            let endedAt = earlier.isCorrected(by: subject) ? subject.endedAt ?? now : now
            let dismissAt = LivePayloads.dismissal(subject, reason: reason, stamp: Timestamp(seconds: subject.timestamp), now: endedAt)
            end = LiveUpdateMessage.End(reason: reason, cause: cause, dismissAt: dismissAt)
        }
        if let update = due.liveUpdate {
            let send = OtherDevicesSend.liveUpdate(
                LiveUpdateMessage.data(subject, policy.liveUpdate, order: order, alert: update.alert, end: end),
                of: subject.id,
                "\(suffix)~android",
                isAlerting: update.isAlerting,
                isCritical: due.isCritical,
                order: order,
                expiresAt: expiresAt,
                to: .android(subject: subject.id)
            )
            result.deliveries += try send.enqueue(check: check, now: now, sizes: sizes, on: connection)
            result.progress.liveUpdateSendId = send.sendId
        }
        if let alert = due.keyEvent {
            let send = OtherDevicesSend.keyEvent(
                alert,
                of: subject,
                "\(suffix)~others",
                isCritical: due.isCritical,
                order: order,
                expiresAt: expiresAt,
                to: .others(subject: subject.id, type: subject.attributesType)
            )
            result.deliveries += try send.enqueue(check: check, now: now, sizes: sizes, on: connection)
            result.progress.keyEventSendId = send.sendId
        }
        // What was sent has outcomes of its own.
        if result.deliveries > 0 {
            try UndeliveredAlert.record(due.undelivered.compactMap { $0.undelivered(subject.id, nil) }, now: now, on: connection)
        }
        try connection.execute(OtherDevicesQueries.save(result.progress, of: subject.id))
        return result
    }

    /// The newest state to who came after it had left, without its alert.
    private func catchUp(
        _ subject: LiveSubject,
        after progress: OtherDevicesProgress,
        _ policy: OtherDevicesPolicy,
        since: Timestamp,
        check: SendStore.PayloadCheck,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Result {
        var result = Result(progress: progress)
        let expiresAt = LivePayloads.staleDate(subject)
        guard policy.android == .states, subject.isLive, !progress.hasEnded, progress.stateTimestamp == subject.timestamp,
            subject.isFresh(now: now), expiresAt > now
        else { return result }
        result.progress.sentOrder = max(progress.sentOrder + 1, now.microseconds / 1000)
        let order = result.progress.sentOrder
        let send = OtherDevicesSend.liveUpdate(
            LiveUpdateMessage.data(subject, policy.liveUpdate, order: order),
            of: subject.id,
            "\(subject.timestamp)~android~\(order)",
            isAlerting: false,
            order: order,
            expiresAt: expiresAt,
            to: .newcomers(subject: subject.id, since: since, timestamp: subject.timestamp)
        )
        result.deliveries = try send.enqueue(check: check, now: now, sizes: sizes, on: connection)
        guard result.deliveries > 0 else { return Result(progress: progress) }
        try connection.execute(OtherDevicesQueries.save(result.progress, of: subject.id))
        return result
    }

    /// Takes a subject off a user's Android devices that were sent it, in the caller's transaction.
    static func end(_ subject: String, of userId: String, reason: EndReason, on connection: BlockingConnection, now: Timestamp) throws {
        let recipients = LiveRecipients.shown(subject: subject, userId: userId)
        let shown: Query = """
            SELECT FROM devices d WHERE d.userId = \(userId) AND d.expiresAt > \(now) AND \(recipients.includes(now: now))
            """
        guard try connection.query("SELECT EXISTS (\(shown))")[0].decode(Bool.self) else { return }
        let send = end(subject, for: userId, reason: reason, to: recipients, now: now)
        _ = try send.enqueue(check: { _, _ in nil }, now: now, on: connection)
    }

    /// What takes the subjects that a user follows off their Android devices when the user is erased: by token, as the devices go.
    static func ends(
        of userId: String,
        devices: [ErasedDevice],
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> [SendRequest] {
        guard !devices.isEmpty else { return [] }
        let subjects = try connection.query("SELECT matchId FROM follows WHERE userId = \(userId) ORDER BY matchId")
            .map { try $0.decode(String.self) }
        return try subjects.flatMap { subject -> [SendRequest] in
            let recipients = LiveRecipients.shown(subject: subject, userId: userId)
            let shown = try connection.query(
                "SELECT d.deviceId FROM devices d WHERE d.userId = \(userId) AND \(recipients.includes(now: now))"
            ).map { try $0.decode(String.self) }
            return try devices.filter { shown.contains($0.deviceId) }.map { device in
                try end(subject, for: device.token.hash.rawValue, reason: .deviceUnregistered, to: recipients, now: now).request(
                    to: .token(
                        device.token,
                        uid: nil,
                        platform: .android,
                        provider: device.provider,
                        environment: device.environment,
                        app: device.app
                    )
                )
            }
        }
    }

    private static func end(
        _ subject: String,
        for recipient: String,
        reason: EndReason,
        to recipients: LiveRecipients,
        now: Timestamp
    ) -> OtherDevicesSend {
        // Above a send of this moment.
        let order = now.microseconds / 1000 + 1
        return OtherDevicesSend.liveUpdate(
            LiveUpdateMessage.unfollowed(subject, order: order, reason: reason, now: now),
            of: subject,
            "\(now.seconds)~end~\(CustomQueries.hash(recipient))~\(order)",
            isAlerting: false,
            order: order,
            expiresAt: now + LivePayloads.endLifetime,
            to: recipients
        )
    }

    private static func leased(_ id: String, owner: String, on connection: BlockingConnection) throws -> LiveSubject? {
        let isLeased: Query = "owner = \(owner) AND leaseUntil > clock_timestamp()"
        if id.contains("/") {
            return try connection.query(
                "SELECT \(raw: LiveSubject.customColumns) FROM activitySubjects WHERE subject = \(id) AND \(isLeased)"
            ).first.map(LiveSubject.init(custom:))
        }
        return try connection.query("SELECT \(raw: LiveSubject.matchColumns) FROM activeMatches WHERE matchId = \(id) AND \(isLeased)")
            .first.map(LiveSubject.init(match:))
    }
}
