import HTTPTypes

/// Problems about how a body is packed. After some of these the connection closes, as the rest of the body is not wanted.
extension Problem {
    /// 413: the body is larger than `limit` bytes, as sent or after inflating.
    package static func payloadTooLarge(limit: Int, inflated: Bool = false) -> Problem {
        Problem(
            status: .contentTooLarge,
            code: "payload_too_large",
            title: "Body too large",
            detail: "The body may have at most \(limit) bytes\(inflated ? " after decompression" : ""). Split it into smaller requests.",
            headers: [.connection: "close"]
        )
    }

    /// 413: the body is JSON with more than `limit` values, of which each takes many times its bytes.
    static func tooManyValues(limit: Int) -> Problem {
        Problem(
            status: .contentTooLarge,
            code: "payload_too_large",
            title: "Body too large",
            detail: "The body may have at most \(limit) JSON values (numbers, strings, arrays, objects). Split it into smaller requests."
        )
    }

    /// 415: the content type is none of those accepted.
    static func unsupportedMediaType(accepted: [String]) -> Problem {
        Problem(
            status: .unsupportedMediaType,
            code: "unsupported_media_type",
            title: "Unsupported media type",
            detail: "Send Content-Type: \(accepted.joined(separator: " or ")).",
            headers: [.accept: accepted.joined(separator: ", ")]
        )
    }

    /// 415: the content coding is neither absent, identity nor gzip (RFC 9110 §12.5.3 asks for Accept-Encoding in the answer).
    static func unsupportedEncoding() -> Problem {
        Problem(
            status: .unsupportedMediaType,
            code: "unsupported_encoding",
            title: "Unsupported content encoding",
            detail: "Send the body as it is or with Content-Encoding: gzip, applied once.",
            headers: [.acceptEncoding: "gzip"]
        )
    }

    /// 400: the body claims to be gzip and is damaged.
    static func malformedEncoding(_ detail: String) -> Problem {
        Problem(status: .badRequest, code: "malformed_encoding", title: "Malformed content encoding", detail: detail)
    }

    /// 400: the body ended early, or its length is not the one announced.
    static func incompleteBody() -> Problem {
        Problem(
            status: .badRequest,
            code: "incomplete_body",
            title: "Incomplete body",
            detail: "The body ended before it was complete. Nothing was stored; send the request again.",
            headers: [.connection: "close"]
        )
    }

    /// 408: the body did not arrive within the deadline, however steadily it dripped.
    static func bodyTimeout(_ limit: Duration) -> Problem {
        Problem(
            status: .requestTimeout,
            code: "body_timeout",
            title: "Body too slow",
            detail: "The body did not arrive within \(limit.components.seconds) seconds. Send smaller requests or compress them.",
            headers: [.connection: "close"]
        )
    }
}
