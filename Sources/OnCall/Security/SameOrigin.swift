import HTTPServer
import HTTPTypes
import Hummingbird

/// Refuses form posts that another site made a browser send.
///
/// The session cookie is SameSite=Strict, so such a post would come without it; this is the second lock, and the only one on signing in.
/// Browsers state where a post comes from in `Origin` (or `Sec-Fetch-Site`), and scripts cannot change either. A post with neither
/// comes from no browser of the last years and is refused too.
enum SameOrigin {
    static func require(_ request: Request) throws(Problem) {
        guard
            isSame(
                site: request.headers[HTTPField.Name("Sec-Fetch-Site")!],
                origin: request.headers[.origin],
                host: request.head.authority
            )
        else {
            throw .forbidden("This form was sent from another site. Open the page here and send the form from it.")
        }
    }

    static func isSame(site: String?, origin: String?, host: String?) -> Bool {
        // Checked first, since it is right behind a proxy that changes the host, too.
        if let site { return site == "same-origin" }
        guard let origin, let host, !host.isEmpty, let separator = origin.firstRange(of: "://") else { return false }
        return origin[separator.upperBound...].lowercased() == host.lowercased()
    }

    /// True when the request follows a link on another site, so that the browser suppressed the session cookie.
    static func isLinkFromElsewhere(_ request: Request) -> Bool {
        request.headers[HTTPField.Name("Sec-Fetch-Site")!] == "cross-site"
    }
}
