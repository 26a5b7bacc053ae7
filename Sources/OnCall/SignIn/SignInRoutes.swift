import HTTPEdge
import HTTPTypes
import Hummingbird
import PushContract

/// `GET /sign-in`, `POST /sign-in`, `POST /sign-out`.
///
/// A link to a page from another site (an alert in a chat) comes without the strict session cookie, so its reader is sent here although
/// signed in. Such a request is answered with a page that goes on to the wanted one by itself: that step comes from this very site, and
/// carries the cookie. Who has none is sent here again, and then sees the form.
struct SignInRoutes: Sendable {
    let desk: SignInDesk
    let templates: PageTemplates
    let now: @Sendable () -> Timestamp

    func add(to router: RouterGroup<PushwatchContext>) {
        router.get("sign-in", use: form)
        router.post("sign-in", use: open)
        router.post("sign-out", use: close)
    }

    @Sendable
    private func form(_ request: Request, context: PushwatchContext) async throws -> Response {
        let next = ReturnPath(request.uri.queryParameters["next"].map(String.init))
        if let ticket = request.uri.queryParameters["ticket"] {
            guard let cookie = try await desk.openWithTicket(String(ticket)) else {
                return answer(next, fault: "This link was used already, or is too old. Sign in with an API key.", status: .unauthorized)
            }
            return PageResponse.seeOther(next.path, setCookie: cookie)
        }
        if next != .home, SameOrigin.isLinkFromElsewhere(request) {
            return PageResponse.html(templates.html(.bounce, BouncePage(next: next)))
        }
        return answer(next)
    }

    @Sendable
    private func open(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let form = try await FormBody.read(request)
        let next = ReturnPath(form["next"])
        let key = (form["key"] ?? "")[...].trimmed
        guard !key.isEmpty, let cookie = try await desk.openWithKey(String(key)) else {
            return answer(next, fault: "This key is not known, was revoked, or has not the scope alerts:read.", status: .unauthorized)
        }
        return PageResponse.seeOther(next.path, setCookie: cookie)
    }

    @Sendable
    private func close(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        return PageResponse.seeOther("/sign-in", setCookie: try await desk.close(request))
    }

    private func answer(_ next: ReturnPath, fault: String? = nil, status: HTTPResponse.Status = .ok) -> Response {
        PageResponse.html(templates.html(.signIn, SignInPage(next: next, fault: fault, now: now())), status: status)
    }
}
