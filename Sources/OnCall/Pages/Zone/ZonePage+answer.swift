import HTTPServer
import Hummingbird

extension ZonePage {
    private static let year = 365 * 86_400

    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let chosen = call.request.cookies[ReaderZone.cookieName]?.value
        return call.html(.zone, ZonePage(chosen: chosen, back: ReturnPath(from: call.request), reader: call.name, now: call.now))
    }

    /// Kept in the browser, so it needs no entry in the audit log: it changes what one reader sees, and nothing else.
    @Sendable
    static func choose(_ call: PageCall) async throws -> Response {
        let form = try await call.form()
        let back = ReturnPath(form["back"]).path
        guard let name = form["zone"], !name.isEmpty else {
            return PageResponse.seeOther(back, setCookie: cookie("", maxAge: 0))
        }
        guard let zone = ReaderZone(name) else {
            throw Problem.invalid("This is no time zone of the IANA database, such as Europe/Berlin.", pointer: "/zone")
        }
        return PageResponse.seeOther(back, setCookie: cookie(zone.identifier, maxAge: year))
    }

    /// The script reads it, so it is not HttpOnly; it is no secret.
    private static func cookie(_ value: String, maxAge: Int) -> String {
        "\(ReaderZone.cookieName)=\(value); Path=/; Max-Age=\(maxAge); SameSite=Lax"
    }
}
