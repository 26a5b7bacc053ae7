import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Sends `100 Continue` when the route begins to read the body, and not before: who is refused for its credentials, path or length has not
/// sent it in vain (RFC 9110 §10.1.1).
struct ContinueMiddleware: RouterMiddleware {
    typealias Context = PushwatchContext

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.expect] != nil else { return try await next(request, context) }
        var request = request
        request.body = RequestBody(asyncSequence: BodyAfterContinue(body: request.body, channel: context.channel))
        return try await next(request, context)
    }
}

/// A body whose sender waits for 100.
private struct BodyAfterContinue: AsyncSequence, Sendable {
    let body: RequestBody
    let channel: any Channel

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: RequestBody.AsyncIterator
        var channel: (any Channel)?

        mutating func next() async throws -> ByteBuffer? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> ByteBuffer? {
            if let channel {
                self.channel = nil
                try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
            }
            return try await iterator.next(isolation: actor)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: body.makeAsyncIterator(), channel: channel) }
}
