package import HTTPTypes
package import Hummingbird
import Logging

/// People who were signed in by a proxy in front: their name comes in a header, which counts only from the proxy's own addresses.
///
/// From everywhere else the header is as if it were not there. An `Authorization` header goes before it, so that machines may come through
/// the same proxy. The proxy must set or delete the header on every request it passes on.
package struct ProxySignIn: RouterMiddleware {
    package typealias Context = PushwatchContext

    /// In the place of a key's id: whom a proxy names has no key.
    package static let sessionId = "proxy"

    private let header: HTTPField.Name
    private let proxies: [AddressRange]
    private let scopes: Set<Scope>

    /// - Parameters:
    ///   - header: the person's name: 1 to 100 visible characters.
    ///   - proxies: the addresses connections of the proxy come from. Empty: the header is ignored.
    ///   - scopes: what everybody whom the proxy names may do.
    package init(header: HTTPField.Name, from proxies: [AddressRange], scopes: Set<Scope>) {
        self.header = header
        self.proxies = proxies
        self.scopes = scopes
    }

    package func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.authorization] == nil, let peer = context.peer, proxies.contains(where: { $0.contains(peer) }) else {
            return try await next(request, context)
        }
        let values = request.headers[values: header]
        guard let name = values.first, !name.isEmpty else { return try await next(request, context) }
        guard values.count == 1, Self.isName(name) else {
            throw Problem.unauthenticated(
                "The proxy's \(header.canonicalName) header does not name one person in 1 to 100 visible characters."
            )
        }
        // The proxy's own cookie comes along with a form of another site, so that the site has to be asked.
        if ![.get, .head].contains(request.method), let site = request.headers[Self.fetchSite], site != "same-origin", site != "none" {
            throw Problem.forbidden("Forms of other sites may not act here.")
        }
        var context = context
        // Marked, so that the audit distinguishes a person from a key of the same name.
        context.caller = .session(id: Self.sessionId, name: "\(name) (proxy)", scopes: scopes)
        return try await next(request, context)
    }

    private static let fetchSite = HTTPField.Name("Sec-Fetch-Site")!

    private static func isName(_ text: String) -> Bool {
        (1...100).contains(text.count) && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0.value != 0xFFFD }
    }
}
