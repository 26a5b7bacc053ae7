import HTTPTypes

/// What makes a request unfit to be routed: where it ends, or whom it is for, cannot be known, or it asks for what HTTP/1.1 makes optional.
///
/// Each ends the connection, since what follows might be read as something else than it was meant (request smuggling).
enum ProtocolFault: String, Error {
    case malformed
    case host
    case transferCoding
    case ambiguousLength
    case headersTooLarge
    case targetTooLong
    case expectation
    case method
    case version

    /// Bytes of a request target; longer ones are 414. RFC 9110 §4.1 recommends that at least 8,000 be supported.
    static let longestTarget = 8_192

    var problem: Problem {
        switch self {
        case .malformed: refusal(.badRequest, "malformed_request", "This is not an HTTP/1.1 request as RFC 9112 describes it.")
        case .host: refusal(.badRequest, "invalid_host", "Send exactly one Host field with a host and perhaps a port (RFC 9112 §3.2).")
        case .transferCoding:
            refusal(
                .notImplemented,
                "unsupported_transfer_coding",
                "The only transfer coding here is chunked; send gzip as Content-Encoding."
            )
        case .ambiguousLength:
            refusal(
                .badRequest,
                "ambiguous_length",
                "Where this body ends cannot be known: send Content-Length, or chunked as the last coding."
            )
        case .headersTooLarge:
            refusal(.requestHeaderFieldsTooLarge, "headers_too_large", "The header fields of a request may have 80 KiB and be 1,000.")
        case .targetTooLong:
            refusal(
                .uriTooLong,
                "target_too_long",
                "The target of a request may have \(Self.longestTarget) bytes. Send long values in a body."
            )
        case .expectation: refusal(.expectationFailed, "unsupported_expectation", "The only expectation here is 100-continue.")
        case .method: refusal(.notImplemented, "unknown_method", "This method is not known here.")
        case .version: refusal(.httpVersionNotSupported, "unsupported_version", "Speak HTTP/1.1.")
        }
    }

    private func refusal(_ status: HTTPResponse.Status, _ code: String, _ detail: String) -> Problem {
        Problem(
            status: status,
            code: code,
            title: "The request cannot be taken as it is",
            detail: "\(detail) The connection is closed.",
            headers: [.connection: "close"]
        )
    }
}
