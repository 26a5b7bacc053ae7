import HTTPServer
import HTTPTypes
import Hummingbird
import PushContract

/// `GET /sign-in`, `POST /sign-in`, `POST /sign-out`.
///
/// A link to a page from another site (an alert in a chat) comes without the strict session cookie, so its reader is sent here although
/// signed in. Such a request is answered with a page that goes on to the wanted one by itself: that step comes from this very site, and
/// carries the cookie. Who has none is sent here again, and then sees the form.
struct SignInRoutes: Sendable {
    let signInHandler: SignInHandler
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
            return try await withTicket(String(ticket), next)
        }
        if next != .home, SameOrigin.isLinkFromElsewhere(request) {
            return PageResponse.html(templates.html(.bounce, BouncePage(next: next)))
        }
        return answer(next)
    }

    /// Answered with a page that goes on by itself: browsers leave a strict cookie out of a redirect that began elsewhere.
    private func withTicket(_ ticket: String, _ next: ReturnPath) async throws -> Response {
        do {
            var response = PageResponse.html(templates.html(.bounce, BouncePage(next: next)))
            response.headers[.setCookie] = try await signInHandler.openWithTicket(ticket)
            return response
        } catch let problem as Problem where problem.isRefusal {
            return answer(next, problem)
        }
    }

    @Sendable
    private func open(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let form = try await FormBody.read(request)
        let next = ReturnPath(form["next"])
        let key = (form["key"] ?? "")[...].trimmed
        do {
            return PageResponse.seeOther(next.path, setCookie: try await signInHandler.openWithKey(String(key)))
        } catch let problem as Problem where problem.isRefusal {
            return answer(next, problem)
        }
    }

    @Sendable
    private func close(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        return PageResponse.seeOther("/sign-in", setCookie: try await signInHandler.close(request))
    }

    private func answer(_ next: ReturnPath, _ problem: Problem? = nil) -> Response {
        let page = SignInPage(next: next, fault: problem?.detail, now: now())
        return PageResponse.html(templates.html(.signIn, page), status: problem?.status ?? .ok)
    }
}

extension Problem {
    /// Who asks may not; as opposed to something that does not work.
    fileprivate var isRefusal: Bool { status == .unauthorized || status == .forbidden }
}
