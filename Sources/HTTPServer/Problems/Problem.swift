package import HTTPTypes
import Hummingbird

/// What went wrong with a request, and what the caller has to change: an RFC 9457 problem document.
///
/// `type` is "urn:pushwatch:problem:" + `code`; codes are stable, texts are not. A problem is safe to show to the caller:
/// nothing from inside (SQL, file paths, other people's data) belongs into `detail`.
package struct Problem: Error, Sendable, Equatable {
    package var status: HTTPResponse.Status
    /// Stable and machine-readable, for example "unknown_field".
    package var code: String
    /// The same for every problem with this code.
    package var title: String
    /// What to change in this very request.
    package var detail: String
    /// JSON pointer (RFC 6901) to the offending place in the request body; "" is the whole body.
    package var pointer: String?
    /// When to come back, in whole seconds, rounded up; sent as `Retry-After` too.
    package var retryAfter: Duration?
    /// Extra headers, for example `Allow` or `WWW-Authenticate`.
    package var headers: HTTPFields

    package init(
        status: HTTPResponse.Status,
        code: String,
        title: String,
        detail: String,
        pointer: String? = nil,
        retryAfter: Duration? = nil,
        headers: HTTPFields = [:]
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.pointer = pointer
        self.retryAfter = retryAfter
        self.headers = headers
    }

    package var type: String { "urn:pushwatch:problem:" + code }

    /// The wait in whole seconds, at least one: a `Retry-After: 0` would invite a busy loop.
    var retryAfterSeconds: Int64? {
        guard let retryAfter else { return nil }
        let (seconds, attoseconds) = retryAfter.components
        return max(1, attoseconds > 0 ? seconds + 1 : seconds)
    }
}

extension Problem: CustomStringConvertible {
    package var description: String { "\(status.code) \(code): \(detail)" }
}
