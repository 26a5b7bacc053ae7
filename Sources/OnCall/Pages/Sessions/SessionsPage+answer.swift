import Access
import HTTPServer
import Hummingbird

/// `GET /oncall/sessions`, `POST /oncall/sessions/{id}/end`.
extension SessionsPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let own: String? = if case .session(let id, _, _, _) = call.context.caller { id } else { nil }
        let page = SessionsPage(try await call.site.sessions.open(now: call.now), own: own, reader: call.reader, now: call.now)
        return call.html(.sessions, page)
    }

    @Sendable
    static func end(_ call: PageCall) async throws -> Response {
        guard try await call.site.sessions.end(id: try call.parameter("id"), by: try call.context.requireCaller(), now: call.now) else {
            throw Problem.notFound("There is no open session with this id: it may have ended meanwhile.")
        }
        return PageResponse.seeOther("/oncall/sessions")
    }
}
