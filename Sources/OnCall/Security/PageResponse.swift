import HTTPTypes
import Hummingbird

/// An HTML answer with restrictive headers: no script but our own, nothing from other sites, no frame, no cache.
enum PageResponse {
    static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; "
        + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

    static func html(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        var headers = common
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.cacheControl] = "no-store"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// 303, so that a reload repeats no form.
    static func seeOther(_ path: String, setCookie: String? = nil) -> Response {
        var headers = common
        headers[.location] = path
        headers[.cacheControl] = "no-store"
        if let setCookie { headers[.setCookie] = setCookie }
        return Response(status: .seeOther, headers: headers)
    }

    /// `same-origin`, not `no-referrer`: the latter makes browsers send `Origin: null` with our own forms.
    static var common: HTTPFields {
        var headers = HTTPFields()
        headers[HTTPField.Name("Content-Security-Policy")!] = contentSecurityPolicy
        headers[HTTPField.Name("X-Content-Type-Options")!] = "nosniff"
        headers[HTTPField.Name("X-Frame-Options")!] = "DENY"
        headers[HTTPField.Name("Referrer-Policy")!] = "same-origin"
        headers[HTTPField.Name("Cross-Origin-Opener-Policy")!] = "same-origin"
        return headers
    }
}
