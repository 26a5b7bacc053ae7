import PushContract

/// One sentence or a few that answer: why did this person not get it?
///
/// From what is stored alone: a provider that accepts a push does not report whether it was shown.
enum PersonVerdict {
    static func sentences(_ person: PersonData, now: Timestamp) -> [String] {
        guard !person.isUnknown else {
            return ["Nothing is stored about this person in the last \(PersonStore.days) days: no device, no send, no attempt."]
        }
        return [reach(person, now: now), last(person, now: now), waiting(person, now: now)].compactMap { $0 }
    }

    /// Where the person can be reached, if anywhere.
    private static func reach(_ person: PersonData, now: Timestamp) -> String {
        let present = person.devices.filter { $0.expiresAt > now }
        guard let newest = present.max(by: { $0.tokenStateSince < $1.tokenStateSince }) else {
            guard person.devices.isEmpty else { return "No device has been seen for 90 days, so nothing is sent until the app is opened." }
            let left = person.attempts.first { $0.eventType == .unregister }
            return "No device is registered, so a send to this person reaches no device"
                + (left.map { ": the last one was removed \(DurationText.ago($0.attemptedAt, now: now))." } ?? ".")
        }
        let reachable = present.filter { $0.tokenState != "inactive" }
        if reachable.isEmpty {
            return "Every token is inactive (\(newest.tokenStateCause ?? "no cause stored"), "
                + "\(DurationText.ago(newest.tokenStateSince, now: now))), so nothing is sent until the app registers a new one."
        }
        let suspect = reachable.filter { $0.tokenState == "suspect" }.count
        let text = "\(counted(reachable.count, "device")) of \(present.count) can be reached"
        return suspect == 0 ? text + "." : text + ", \(suspect) of them with a token under suspicion."
    }

    /// The outcome of the latest send.
    private static func last(_ person: PersonData, now: Timestamp) -> String? {
        guard let attempt = person.attempts.first(where: { $0.eventType == .send }) else {
            return "Nothing was sent to this person in the last \(PersonStore.days) days."
        }
        let when = DurationText.ago(attempt.attemptedAt, now: now)
        let provider = attempt.provider.displayName
        switch attempt.status {
        case .queued: return "The last push was reported as queued \(when), and never with an outcome."
        case .sent:
            return "The last push was accepted by \(provider) \(when); \(provider) does not report whether the device showed it."
        case .failed, .deactivated:
            let why = attempt.reasonCode.map(ReasonWords.why) ?? "for an unknown reason"
            let code = attempt.providerErrorCode.map { " (\($0))" } ?? ""
            let consequence = attempt.status == .deactivated ? " Its token was deactivated." : ""
            return "The last push failed \(when): \(why)\(code).\(consequence)"
        }
    }

    private static func waiting(_ person: PersonData, now: Timestamp) -> String? {
        guard !person.waiting.isEmpty else { return nil }
        let next = person.waiting.compactMap(\.nextAttemptAt).min()
        let blocked = person.waiting.filter { $0.state == "blocked" }.count
        if blocked > 0 {
            return "\(counted(blocked, "push", "pushes")) \(blocked == 1 ? "waits" : "wait") for an open circuit: the provider rejects our "
                + "credential or is down (see Now)."
        }
        return "\(counted(person.waiting.count, "delivery", "deliveries")) "
            + (person.waiting.count == 1 ? "is" : "are") + " not over yet"
            + (next.map { ", the next try \(DurationText.ago($0, now: now))." } ?? ".")
    }

    private static func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        "\(count) \(count == 1 ? one : many ?? one + "s")"
    }
}
