package import PushContract

/// Carries pushes to one provider with one credential. Never throws: whatever happens is an outcome.
package protocol PushProvider: Sendable {
    /// Makes one try. At most one request reaches the device: what is repeated within was provably refused before.
    ///
    /// - Parameters:
    ///   - attemptId: names the try; APNs shows its digest as `apns-id`.
    ///   - now: the moment credentials and lifetimes are judged by.
    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome

    /// Names the credential without telling it, and is another one when the key is another.
    var credential: String { get }
}

extension PushProvider {
    package var credential: String { "unnamed" }
}
