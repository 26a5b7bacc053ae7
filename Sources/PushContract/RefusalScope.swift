/// Which deliveries a refusal concerns apart from the one that was refused; decides about circuits and rate-limit pauses.
package enum RefusalScope: String, Sendable, Hashable, CaseIterable {
    /// This message or this address alone; the queue continues.
    case message
    /// Every message to this topic, which is wrong or not allowed for the credential: opens the circuit of the app's push type.
    case topic
    /// The credential, or the project it belongs to: opens the credential's circuit until a probe succeeds.
    case credential
    /// iOS and web push of this Firebase project, whose APNs or web push key is refused; Android continues.
    case platform
    /// The quota of the whole project is used up: pauses the queue for `retryAfter`.
    case quota
    /// The provider fails or cannot be reached: back off.
    case provider
}

extension RefusalScope {
    /// The scope of an answer of APNs other than 200.
    package static func apns(status: Int, reason: String?) -> RefusalScope {
        if let reason, let known = ProviderCode.row(.provider(.apns), reason)?.scope { return known }
        return switch status {
        case 403: .credential
        case 429: .quota
        case 500...599: .provider
        default: .message
        }
    }

    /// The scope of an answer of FCM other than 200.
    ///
    /// - Parameter quotaSubjects: The subjects of the answer's `QuotaFailure`, such as `project:x` or `device`.
    package static func fcm(status: Int, errorCode: String?, quotaSubjects: [String]) -> RefusalScope {
        let scope = errorCode.flatMap { ProviderCode.row(.provider(.fcm), $0)?.scope } ?? fcm(status: status)
        return scope == .quota && isNarrow(quotaSubjects) ? .message : scope
    }

    private static func fcm(status: Int) -> RefusalScope {
        switch status {
        case 401, 403, 404: .credential
        case 429: .quota
        case 500...599: .provider
        default: .message
        }
    }

    /// Whether only quotas of a device or a topic are exceeded, and not that of the project.
    private static func isNarrow(_ subjects: [String]) -> Bool {
        !subjects.isEmpty
            && subjects.allSatisfy { subject in
                // The kind is followed by a name that a person chose: `project:smart-device`.
                let kind = subject.lowercased().prefix { $0 != ":" && $0 != "/" }
                return ["device", "topic", "token"].contains { kind.contains($0) }
            }
    }
}
