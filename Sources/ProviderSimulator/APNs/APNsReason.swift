/// Apple's words for a refusal with the status each comes with ("Handling notification responses from APNs").
enum APNsReason: String, Sendable, CaseIterable {
    case badCollapseId = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageId = "BadMessageId"
    case badPath = "BadPath"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case expiredProviderToken = "ExpiredProviderToken"
    case expiredToken = "ExpiredToken"
    case invalidProviderToken = "InvalidProviderToken"
    case invalidPushType = "InvalidPushType"
    case methodNotAllowed = "MethodNotAllowed"
    case missingDeviceToken = "MissingDeviceToken"
    case missingProviderToken = "MissingProviderToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case payloadTooLarge = "PayloadTooLarge"
    case topicDisallowed = "TopicDisallowed"
    case unregistered = "Unregistered"
    // Broadcasts and channels.
    case badRequestPayload = "BadRequestPayload"
    case cannotCreateChannelConfig = "CannotCreateChannelConfig"
    case channelNotRegistered = "ChannelNotRegistered"
    case missingChannelId = "MissingChannelId"
    case missingPushType = "MissingPushType"
    case topicMismatch = "TopicMismatch"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"

    var status: Int {
        switch self {
        case .expiredProviderToken, .invalidProviderToken, .missingProviderToken, .topicMismatch: 403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .unregistered, .expiredToken: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates: 429
        default: 400
        }
    }
}
