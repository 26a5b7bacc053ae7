/// What else an answer is about, besides the one message: what a queue has to do with it.
package enum RefusalScope: String, Sendable, Hashable, CaseIterable {
    /// This message or this address alone: the queue goes on.
    case message
    /// Every message to this topic, which the credential may not send to or which is wrong: hold the app's queue of this push type.
    case topic
    /// The credential, or the project it sends in: hold everything that uses it until it is mended, and let probes through.
    case credential
    /// iOS and web push of this Firebase project, whose own keys are refused; Android goes on.
    case platform
    /// The quota of the whole project is used up: pause the queue for `retryAfter`.
    case quota
    /// The provider is in trouble or cannot be reached: back off.
    case provider
}

extension RefusalScope {
    package static func apns(status: Int, reason: String?) -> RefusalScope {
        switch reason {
        case "BadTopic", "MissingTopic", "TopicDisallowed", "FeatureNotEnabled", "TopicMismatch", "CannotCreateChannelConfig": .topic
        case "TooManyProviderTokenUpdates": .credential
        case "Shutdown", "IdleTimeout": .message
        // Apple counts these by device.
        case "TooManyRequests": .message
        default:
            switch status {
            case 403: .credential
            case 429: .quota
            case 500...599: .provider
            default: .message
            }
        }
    }

    /// - Parameter quotaSubjects: who the quota belongs to, in Google's words, such as `project:x` or `device`.
    package static func fcm(status: Int, errorCode: String?, quotaSubjects: [String]) -> RefusalScope {
        switch errorCode {
        case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR": .platform
        case "QUOTA_EXCEEDED": isNarrow(quotaSubjects) ? .message : .quota
        case "SENDER_ID_MISMATCH", "UNREGISTERED", "INVALID_ARGUMENT": .message
        default:
            switch status {
            case 401, 403, 404: .credential
            case 429: isNarrow(quotaSubjects) ? .message : .quota
            case 500...599: .provider
            default: .message
            }
        }
    }

    /// Quotas of a device or a topic alone; one of the project among them is the wider one.
    private static func isNarrow(_ subjects: [String]) -> Bool {
        !subjects.isEmpty
            && subjects.map { $0.lowercased() }.allSatisfy { $0.contains("device") || $0.contains("topic") || $0.contains("token") }
    }
}
