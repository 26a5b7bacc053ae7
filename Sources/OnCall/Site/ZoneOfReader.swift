import HTTPServer
import Hummingbird

/// Gives each page the zone of its reader.
struct ZoneOfReader: RouterMiddleware {
    typealias Context = PushwatchContext

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        let zone = request.cookies[ReaderZone.cookieName].flatMap { ReaderZone(cookie: $0.value) }
        return try await ReaderZone.$current.withValue(zone) { try await next(request, context) }
    }
}
