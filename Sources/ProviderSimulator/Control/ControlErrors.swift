import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit

/// Turns complaints into `400 {"error": "…"}`.
struct ControlErrors: RouterMiddleware {
    func handle(
        _ request: Request,
        context: SimulatorContext,
        next: @concurrent (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as ControlError {
            let body: JSONValue = ["error": .string(error.message)]
            return Response(
                status: .badRequest,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(bytes: body.bytes + Array("\n".utf8)))
            )
        }
    }
}
