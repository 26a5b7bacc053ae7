import HTTPTypes
import Hummingbird

/// Answers what `RequestFraming` found unfit to be routed, and targets with U+0000, which PostgreSQL stores in no text.
struct ProtocolFaultMiddleware: RouterMiddleware {
    typealias Context = PushwatchContext

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        if let fault = request.head.extendedConnectProtocol { throw (ProtocolFault(rawValue: fault) ?? .malformed).problem }
        if request.head.path?.contains("%00") == true {
            throw Problem.badRequest("The target of the request has %00. No value here can have the character U+0000.")
        }
        return try await next(request, context)
    }
}
