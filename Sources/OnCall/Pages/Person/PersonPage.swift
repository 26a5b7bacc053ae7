import PushContract

/// A person's page as its template sees it.
struct PersonPage {
    struct DeviceRow {
        let name: String
        let detail: String
        let app: String
        let state: String
        let isBad: Bool
        let cause: String?
        let seen: String
        let hash: String
    }

    struct ActivityRow {
        let subject: String
        let detail: String
        let state: String
        let when: String
    }

    struct WaitingRow {
        let send: String
        let detail: String
        let state: String
        let next: String
    }

    struct AttemptRow {
        let when: String
        let whenAttribute: String
        let what: String
        let detail: String
        let result: String
        let isBad: Bool
        let code: String?
        let ids: String
    }

    let frame: PageFrame
    let uid: String
    let sentences: [String]
    let devices: [DeviceRow]
    let hasDevices: Bool
    let activities: [ActivityRow]
    let hasActivities: Bool
    let waiting: [WaitingRow]
    let hasWaiting: Bool
    let attempts: [AttemptRow]
    let hasAttempts: Bool
    let attemptsCaption: String

    init(_ person: PersonData, reader: String, now: Timestamp) {
        frame = PageFrame(title: "\(person.uid) · Pushwatch", person: reader, now: now)
        uid = person.uid
        sentences = PersonVerdict.sentences(person, now: now)
        devices = person.devices.map { Self.line($0, now: now) }
        hasDevices = !devices.isEmpty
        activities = person.activities.map { Self.line($0, now: now) }
        hasActivities = !activities.isEmpty
        waiting = person.waiting.map { Self.line($0, now: now) }
        hasWaiting = !waiting.isEmpty
        attempts = person.attempts.map { Self.line($0, now: now) }
        hasAttempts = !attempts.isEmpty
        let kept = "of the last \(PersonStore.days) days, newest first"
        attemptsCaption = person.hasMoreAttempts ? "The latest \(PersonStore.limit) attempts \(kept)." : "All attempts \(kept)."
    }

    private static func line(_ device: PersonData.Device, now: Timestamp) -> DeviceRow {
        let isExpired = device.expiresAt <= now
        let versions = [device.platform.rawValue, device.osVersion].compactMap { $0 }.joined(separator: " ")
        return DeviceRow(
            name: device.deviceId,
            detail: "\(versions), \(device.provider.displayName) \(device.environment)"
                + (device.hasStartToken ? ", can start Live Activities" : ""),
            app: [device.app, device.appVersion].compactMap { $0 }.joined(separator: " "),
            state: isExpired ? "not seen for 90 days" : device.tokenState,
            isBad: isExpired || device.tokenState != "active",
            cause: device.tokenStateCause.map { "\($0), \(DurationText.ago(device.tokenStateSince, now: now))" },
            seen: DurationText.ago(device.lastSeenAt, now: now),
            hash: String(device.tokenHash.prefix(15))
        )
    }

    private static func line(_ activity: PersonData.Activity, now: Timestamp) -> ActivityRow {
        let latest = activity.endedAt ?? activity.lastSentAt ?? activity.activatedAt ?? activity.createdAt
        return ActivityRow(
            subject: activity.subject,
            detail: "device \(activity.deviceId), start \(activity.instance)",
            state: activity.endReason.map { "\(activity.status): \($0)" } ?? activity.status,
            when: DurationText.ago(latest, now: now)
        )
    }

    private static func line(_ waiting: PersonData.Waiting, now: Timestamp) -> WaitingRow {
        WaitingRow(
            send: waiting.sendId,
            detail: [waiting.provider.displayName, waiting.app, waiting.deviceId].compactMap { $0 }.joined(separator: ", "),
            state: waiting.reasonCode.map { "\(waiting.state), after \($0)" } ?? waiting.state,
            next: waiting.nextAttemptAt.map { DurationText.ago($0, now: now) }
                ?? "asked for \(DurationText.ago(waiting.createdAt, now: now))"
        )
    }

    private static func line(_ attempt: Attempt, now: Timestamp) -> AttemptRow {
        let result = [attempt.status.rawValue, attempt.reasonCode?.rawValue].compactMap { $0 }.joined(separator: ": ")
        let latency = attempt.latencyMs.map { "\(NumberText.count($0)) ms" }
        return AttemptRow(
            when: ClockText.exact(attempt.attemptedAt, now: now),
            whenAttribute: attempt.attemptedAt.rfc3339,
            what: [attempt.eventType.rawValue, attempt.pushType].compactMap { $0 }.joined(separator: " "),
            detail: [attempt.provider.displayName, attempt.environment?.rawValue, attempt.app, attempt.appVersion]
                .compactMap { $0 }.joined(separator: ", "),
            result: [result, latency].compactMap { $0 }.joined(separator: ", "),
            isBad: attempt.status == .failed || attempt.status == .deactivated,
            code: attempt.providerErrorCode,
            ids: [attempt.sendId.map { "send \($0)" }, "attempt \(attempt.attemptId)", "token \(attempt.tokenHash.rawValue.prefix(15))"]
                .compactMap { $0 }.joined(separator: ", ")
        )
    }
}
