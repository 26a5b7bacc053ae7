package import HTTPTypes

/// Problems about the request itself: sending it again unchanged will fail again.
extension Problem {
    /// 400 for anything that has no narrower code.
    package static func badRequest(_ detail: String, code: String = "bad_request") -> Problem {
        Problem(status: .badRequest, code: code, title: "Bad request", detail: detail)
    }

    /// 400: the body is not JSON. `detail` says where and why.
    package static func malformedJSON(_ detail: String, pointer: String? = nil) -> Problem {
        Problem(status: .badRequest, code: "malformed_json", title: "Malformed JSON", detail: detail, pointer: pointer)
    }

    /// 404: the thing asked for does not exist, or the caller may not know that it does.
    package static func notFound(_ detail: String) -> Problem {
        Problem(status: .notFound, code: "not_found", title: "Not found", detail: detail)
    }

    /// 405 with `Allow` (RFC 9110 §15.5.6).
    package static func methodNotAllowed(_ method: HTTPRequest.Method, allowed: [HTTPRequest.Method]) -> Problem {
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        return Problem(
            status: .methodNotAllowed,
            code: "method_not_allowed",
            title: "Method not allowed",
            detail: "\(method.rawValue) is not possible here. Use \(list).",
            headers: [.allow: list]
        )
    }

    /// 409: the request contradicts what is stored.
    package static func conflict(_ detail: String, code: String = "conflict", pointer: String? = nil) -> Problem {
        Problem(status: .conflict, code: code, title: "Conflict", detail: detail, pointer: pointer)
    }

    /// 422: well-formed, and not valid. `pointer` names the field.
    package static func invalid(_ detail: String, code: String = "invalid", pointer: String?) -> Problem {
        Problem(status: .unprocessableContent, code: code, title: "Invalid value", detail: detail, pointer: pointer)
    }
}
