import HTTPTypes
package import Hummingbird

/// Refuses requests that another site made a browser send.
///
/// The session cookie is SameSite=Strict, so such a request would come without it. This is a second protection, and the only one where
/// people sign in or a proxy in front has signed them in. Browsers state where a request comes from in `Sec-Fetch-Site` (W3C Fetch
/// Metadata) or `Origin` (RFC 6454), and scripts cannot change either. A request with neither comes from no current browser and is refused
/// too: programs send an API key, which no browser adds by itself.
package enum SameOrigin {
    /// Throws 403 unless a page of this very site sent the request.
    package static func require(_ request: Request) throws(Problem) {
        guard
            isSame(
                site: request.headers[HTTPField.Name("Sec-Fetch-Site")!],
                origin: request.headers[.origin],
                host: request.head.authority
            )
        else {
            throw .forbidden("This was sent from another site. Open the page here and send it from there; programs send an API key.")
        }
    }

    /// The same, for every method but those that change nothing (RFC 9110 §9.2.1).
    package static func requireIfUnsafe(_ request: Request) throws(Problem) {
        guard ![.get, .head, .options].contains(request.method) else { return }
        try require(request)
    }

    package static func isSame(site: String?, origin: String?, host: String?) -> Bool {
        // Checked first, since it is right behind a proxy that changes the host, too.
        if let site { return site == "same-origin" }
        guard let origin, let host, !host.isEmpty, let separator = origin.firstRange(of: "://") else { return false }
        return origin[separator.upperBound...].lowercased() == host.lowercased()
    }

    /// True when the request follows a link on another site, so that the browser suppressed the session cookie.
    package static func isLinkFromElsewhere(_ request: Request) -> Bool {
        request.headers[HTTPField.Name("Sec-Fetch-Site")!] == "cross-site"
    }
}
