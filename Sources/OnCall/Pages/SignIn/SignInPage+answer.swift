import Access
import HTTPServer
import HTTPTypes
import Hummingbird

/// `GET /sign-in`, `POST /sign-in`, `POST /sign-out`.
///
/// A link to a page from another site (an alert in a chat) comes without the strict session cookie, so its reader is sent here although
/// signed in. Such a request is answered with a page that goes on to the wanted one by itself: that step comes from this very site, and
/// carries the cookie. A reader without a session is sent here again, and then sees the form.
extension SignInPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let next = ReturnPath(call.request.uri.queryParameters["next"].map(String.init))
        // HEAD is sent by programs that look at links in messages, not by people; it must not use the ticket up.
        if let ticket = call.request.uri.queryParameters["ticket"], call.request.method != .head {
            return try await withTicket(String(ticket), next, call)
        }
        if SameOrigin.isLinkFromElsewhere(call.request) {
            return call.html(.bounce, BouncePage(next: next))
        }
        return form(next, call)
    }

    @Sendable
    static func open(_ call: PageCall) async throws -> Response {
        let fields = try await call.form()
        let next = ReturnPath(fields["next"])
        let key = (fields["key"] ?? "")[...].trimmed
        let person = String((fields["name"] ?? "")[...].trimmed)
        do {
            return PageResponse.seeOther(
                next.path,
                setCookie: try await call.site.sessions.open(key: String(key), person: person, now: call.now)
            )
        } catch let problem as Problem where problem.isRefusal {
            return form(next, call, person: person, problem)
        }
    }

    @Sendable
    static func close(_ call: PageCall) async throws -> Response {
        PageResponse.seeOther("/sign-in", setCookie: try await call.site.sessions.close(call.request, now: call.now))
    }

    /// Answered with a page that goes on by itself: browsers leave a strict cookie out of a redirect that began elsewhere.
    private static func withTicket(_ ticket: String, _ next: ReturnPath, _ call: PageCall) async throws -> Response {
        do {
            var response = call.html(.bounce, BouncePage(next: next))
            response.headers[.setCookie] = try await call.site.sessions.open(ticket: ticket, now: call.now)
            return response
        } catch let problem as Problem where problem.isRefusal {
            return form(next, call, problem)
        }
    }

    private static func form(_ next: ReturnPath, _ call: PageCall, person: String = "", _ problem: Problem? = nil) -> Response {
        call.html(.signIn, SignInPage(next: next, name: person, fault: problem?.detail, now: call.now), status: problem?.status ?? .ok)
    }
}

extension Problem {
    /// The caller may not sign in, as opposed to a fault of the service.
    fileprivate var isRefusal: Bool { [.unauthorized, .forbidden, .unprocessableContent].contains(status) }
}
