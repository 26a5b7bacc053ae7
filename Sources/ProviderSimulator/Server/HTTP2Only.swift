import HTTPTypes
import Hummingbird

/// Refuses HTTP/1.1, which APNs does not speak.
struct HTTP2Only<Next: HTTPResponder<SimulatorContext>>: HTTPResponder {
    let next: Next

    func respond(to request: Request, context: SimulatorContext) async throws -> Response {
        guard context.isHTTP2 else { return Response(status: .init(code: 505, reasonPhrase: "HTTP Version Not Supported")) }
        return try await next.respond(to: request, context: context)
    }
}
