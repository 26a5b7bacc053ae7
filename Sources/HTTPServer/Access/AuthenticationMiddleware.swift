import Foundation
import HTTPTypes
package import Hummingbird
import Logging

/// Authenticates the caller of a route that is not open.
///
/// A browser that asks for a page is sent to the sign-in page instead of being shown a 401 document.
package struct AuthenticationMiddleware: RouterMiddleware {
    package typealias Context = PushwatchContext

    private let authenticator: any Authenticator
    private let signInPath: String?

    /// - Parameter signInPath: where browsers are sent, with the page they wanted as `?next=`. Its route has to be open.
    package init(_ authenticator: any Authenticator, signInPath: String? = nil) {
        self.authenticator = authenticator
        self.signInPath = signInPath
    }

    package func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
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
