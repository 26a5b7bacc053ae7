import HTTPTypes
import Hummingbird
import Logging
import PushContract
import ServiceKit

/// Gives each request its id, before anything else happens to it, and echoes it in the answer.
struct RequestIDMiddleware: RouterMiddleware {
    typealias Context = PushwatchContext
    static let header = HTTPField.Name("X-Request-Id")!

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.requestId = Self.id(from: request.headers.value(of: Self.header))
        // One id a line: the framework's own would only be confused with it.
        context.logger[metadataKey: "hb.request.id"] = nil
        context.logger[metadataKey: "requestId"] = .string(context.requestId)
        var response = try await next(request, context)
        response.headers[Self.header] = context.requestId
        return response
    }

    /// The caller's id if it is 1 to 200 visible ASCII characters, else a new ULID: a header must not be able to break a log line.
    static func id(from header: String?) -> String {
        if let header, (1...200).contains(header.utf8.count), header.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) { return header }
        return ULID.make(at: .now())
    }
}
