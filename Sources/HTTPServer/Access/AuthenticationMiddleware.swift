import Foundation
import HTTPTypes
package import Hummingbird
import Logging

/// Closes every route to strangers, except those named open.
///
/// A route that forgets to state its scope is thus at least not public. Paths without a route pass, to be answered 404 or 405.
/// A browser that asks for a page is sent to the sign-in page instead of being shown a 401 document.
package struct AuthenticationMiddleware: RouterMiddleware {
    package typealias Context = PushwatchContext

    private let authenticator: any Authenticator
    private let open: Set<String>
    private let signInPath: String?

    /// - Parameters:
    ///   - open: route patterns as the router writes them, for example "/health" or "/assets/{name}". They are never authenticated.
    ///   - signInPath: where browsers go; it gets `?next=` with the page they wanted. Has to be open itself.
    package init(_ authenticator: any Authenticator, open: Set<String> = [], signInPath: String? = nil) {
        self.authenticator = authenticator
        self.open = open
        self.signInPath = signInPath
    }

    package func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        if context.isUnrouted || open.contains(context.endpointPath ?? "") { return try await next(request, context) }
        // A proxy in front may have said who it is.
        guard let caller = try await known(context.caller, request) else {
            if let page = signIn(for: request) { return page }
            throw Problem.unauthenticated()
        }
        var context = context
        context.caller = caller
        context.logger[metadataKey: "caller"] = .string(caller.name)
        return try await next(request, context)
    }

    private func known(_ caller: Caller?, _ request: Request) async throws -> Caller? {
        if let caller { return caller }
        return try await authenticator.authenticate(request)
    }

    private func signIn(for request: Request) -> Response? {
        guard let signInPath, request.method == .get, MediaType.prefersHTML(request.headers[.accept]) else { return nil }
        let wanted = request.uri.string
        let next = wanted.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return .redirect(to: wanted == "/" ? signInPath : "\(signInPath)?next=\(next)")
    }
}
