/// The fields of the attempt contract, version 1. The raw value is the place in the parser's key table.
enum AttemptField: Int, CaseIterable {
    case attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode, providerErrorCode, attemptedAt, requestId
    case app, environment, pushType, appVersion, providerMessageId, latencyMs, sendId

    /// The JSON key.
    var name: StaticString {
        switch self {
        case .attemptId: "attemptId"
        case .uid: "uid"
        case .platform: "platform"
        case .provider: "provider"
        case .tokenHash: "tokenHash"
        case .eventType: "eventType"
        case .status: "status"
        case .reasonCode: "reasonCode"
        case .providerErrorCode: "providerErrorCode"
        case .attemptedAt: "attemptedAt"
        case .requestId: "requestId"
        case .app: "app"
        case .environment: "environment"
        case .pushType: "pushType"
        case .appVersion: "appVersion"
        case .providerMessageId: "providerMessageId"
        case .latencyMs: "latencyMs"
        case .sendId: "sendId"
        }
    }
}
