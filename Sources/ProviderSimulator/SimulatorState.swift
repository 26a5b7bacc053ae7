import PushContract
import Synchronization

/// The simulator's whole state, behind one lock: scripted tokens, faults, issued access tokens, the request log.
///
/// Every call is short and never waits, so a lock serves; it may be called from any thread.
final class SimulatorState: Sendable {
    struct Contents: Sendable {
        var faults: FaultRegistry
        var log: RequestLog
        var tokens: [String: ScriptedToken] = [:]
        var accessTokens = AccessTokens()
        var channels = ChannelRegistry()
        /// When the provider token of each connection was made.
        var tokenTimes: [String: Int64] = [:]
        /// Authorization headers whose signatures were checked. Emptied when it grows past what honest senders use.
        var providers: [String: APNsProvider] = [:]
    }

    private let contents: Mutex<Contents>

    init(seed: UInt64, keptRequests: Int) {
        contents = Mutex(Contents(faults: FaultRegistry(seed: seed), log: RequestLog(capacity: keptRequests)))
    }

    func with<Value: Sendable>(_ body: (inout Contents) -> Value) -> Value {
        contents.withLock { body(&$0) }
    }

    /// The form tokens are looked up by: APNs tokens (hexadecimal) in lower case, FCM tokens as they are.
    static func canonical(_ token: String) -> String {
        token.allSatisfy(\.isHexDigit) ? token.lowercased() : token
    }
}
