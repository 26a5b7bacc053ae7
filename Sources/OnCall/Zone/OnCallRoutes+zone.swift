import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import PushContract

extension OnCallRoutes {
    private static let year = 365 * 86_400

    @Sendable
    func zonePage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let reader = try reader(context)
        // Pages are told by `Referrer-Policy: same-origin` where their reader comes from; other sites tell at most their host.
        let from = request.headers[.referer].flatMap { URLComponents(string: $0)?.path }
        let chosen = request.cookies[ReaderZone.cookieName]?.value
        let page = ZonePage(chosen: chosen, back: ReturnPath(from), reader: reader.name, now: clock())
        return PageResponse.html(templates.html(.zone, page))
    }

    /// Kept in the browser, so it needs no entry in the audit log: it changes what one reader sees, and nothing else.
    @Sendable
    func chooseZone(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        _ = try reader(context)
        let form = try await FormBody.read(request)
        let back = ReturnPath(form["back"]).path
        guard let name = form["zone"], !name.isEmpty else {
            return PageResponse.seeOther(back, setCookie: Self.cookie("", maxAge: 0))
        }
        guard let zone = ReaderZone(name) else {
            throw Problem.invalid("This is no time zone of the IANA database, such as Europe/Berlin.", pointer: "/zone")
        }
        return PageResponse.seeOther(back, setCookie: Self.cookie(zone.identifier, maxAge: Self.year))
    }

    /// The script reads it, so it is not HttpOnly; it holds no secret.
    private static func cookie(_ value: String, maxAge: Int) -> String {
        "\(ReaderZone.cookieName)=\(value); Path=/; Max-Age=\(maxAge); SameSite=Lax"
    }
}
