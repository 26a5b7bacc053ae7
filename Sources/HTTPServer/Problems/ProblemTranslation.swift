import Hummingbird

/// The problem that an error of a lower layer is for the caller: a lost database is 503, not 500.
///
/// The server maps adapters' errors once (`ProblemMiddleware(translate:)`), so adapters do not depend on HTTP.
package typealias ProblemTranslation = @Sendable (any Error) -> Problem?

extension Problem {
    /// The problem for any error: itself, a translated one, the framework's own by status, or `internalError`.
    package static func from(_ error: any Error, translate: ProblemTranslation) -> Problem {
        if let problem = error as? Problem { return problem }
        if let problem = translate(error) { return problem }
        if let error = error as? any HTTPResponseError { return framework(error) }
        return .internalError
    }

    /// Hummingbird's errors carry a status, and a text that is made for callers only below 500.
    private static func framework(_ error: any HTTPResponseError) -> Problem {
        guard error.status.kind == .clientError else { return .internalError }
        let text = (error as? HTTPError)?.body ?? error.status.reasonPhrase
        switch error.status {
        case .notFound: return .notFound("There is nothing at this path.")
        case .contentTooLarge:
            return Problem(
                status: error.status,
                code: "payload_too_large",
                title: "Body too large",
                detail: "The body is too large. Split it into smaller requests.",
                headers: [.connection: "close"]
            )
        default:
            return Problem(status: error.status, code: "bad_request", title: "Bad request", detail: text)
        }
    }
}
