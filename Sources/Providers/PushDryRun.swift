package import PushContract

/// What a push would be, found out without delivering it.
package struct PushDryRun: Sendable, Hashable {
    /// The request as it would leave, without token and credential.
    package struct Request: Sendable, Hashable {
        package var url: String
        package var headers: [String: String]
        /// JSON.
        package var body: [UInt8]
    }

    /// Where a token is in the request.
    package static let token = "(token)"

    package var request: Request
    /// What the provider says of the push; nil where it cannot check one without delivering it.
    package var answer: PushOutcome?
}

extension PushProvider {
    package func dryRun(
        _ message: PushMessage,
        to target: PushTarget,
        attemptId: String,
        now: Timestamp
    ) async throws(PushError) -> PushDryRun {
        throw PushError(field: "validateOnly", code: "NotSupported", "This provider cannot show a push without sending it.")
    }
}
