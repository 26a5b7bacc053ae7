import Foundation
import PushContract

/// What the client reads from answers: a device with its tokens' states, or a problem's code. Fields it does not know are ignored.
struct ServerAnswer: Decodable {
    struct Token: Decodable {
        var tokenHash: TokenHash
        var state: String
        var reasonCode: ReasonCode?
    }

    var pushToken: Token?
    var pushToStartToken: Token?
    var unregisterSecret: String?
    var code: String?

    init?(_ response: PushResponse) {
        guard let answer = try? JSONDecoder().decode(ServerAnswer.self, from: Data(response.body)) else { return nil }
        self = answer
    }
}
