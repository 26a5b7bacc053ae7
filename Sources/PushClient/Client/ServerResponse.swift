import Foundation
import PushContract

/// What the client reads from answers: a device with its tokens' states, or a problem's code. Fields it does not know are ignored.
struct ServerResponse: Decodable {
    struct Token: Decodable {
        var tokenHash: TokenHash
        var state: String
        var reasonCode: ReasonCode?

        /// Nil when the provider has refused it.
        var usableHash: TokenHash? { state == "active" ? tokenHash : nil }
    }

    struct Followed: Decodable {
        var type: String
        var id: String

        var subject: ActivitySubject { ActivitySubject(type: type, id: id) }
    }

    var pushToken: Token?
    var pushToStartToken: Token?
    /// Of attributes types that have their own token.
    var pushToStartTokens: [String: Token]?
    var unregisterSecret: String?
    var code: String?
    /// The list of follows.
    var follows: [Followed]?
    /// Of a follow, or of the list of follows: the state of each on each of the user's devices.
    var starts: [FollowedDeviceDocument]?
    /// Of a follow.
    var phase: String?

    var usableStartTokens: [String: TokenHash] { (pushToStartTokens ?? [:]).compactMapValues(\.usableHash) }

    init?(_ response: PushResponse) {
        guard let document = try? JSONDecoder().decode(ServerResponse.self, from: Data(response.body)) else { return nil }
        self = document
    }
}

/// The state of a match in the answer to a follow.
struct FollowedState: Decodable {
    var displayState: UnifiedDisplayState?

    init?(_ response: PushResponse) {
        guard let document = try? JSONDecoder().decode(FollowedState.self, from: Data(response.body)) else { return nil }
        self = document
    }
}
