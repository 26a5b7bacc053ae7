package import PushContract

/// Sends pushes to one provider with one credential. Never throws: every failure is an outcome.
package protocol PushProvider: Sendable {
    /// Makes one attempt. At most one request can reach the device: a request is only repeated if it was provably refused.
    ///
    /// - Parameters:
    ///   - attemptId: Identifies the attempt; APNs receives its digest as `apns-id`.
    ///   - now: The time for the lifetimes of credentials and messages.
    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome

    /// Shows the request of a push, and has the provider check it where it can without delivering it.
    ///
    /// - Throws: what the provider would refuse, as far as that is known here.
    func dryRun(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async throws(PushError) -> PushDryRun

    /// The name of the credential: contains no secret, and changes with the key.
    var credential: String { get }

    /// Where tasks that send through it are to run: on the thread of its connections. Nil: anywhere.
    var executor: (any TaskExecutor)? { get }
}

extension PushProvider {
    package var credential: String { "unnamed" }
    package var executor: (any TaskExecutor)? { nil }
}
