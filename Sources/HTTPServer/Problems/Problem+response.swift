import HTTPTypes
package import Hummingbird

extension Problem: HTTPResponseError {
    /// The problem as an answer. The request id comes from the context when it is ours.
    package func response(from request: Request, context: some RequestContext) throws -> Response {
        response(requestId: (context as? PushwatchContext)?.requestId)
    }

    /// The problem as an answer to the request with this id.
    package func response(requestId: String?) -> Response {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        headers[.cacheControl] = "no-store"
        if let seconds = retryAfterSeconds { headers[.retryAfter] = String(seconds) }
        let body = JSONResponse.bytes(ProblemDocument(problem: self, requestId: requestId))
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}

/// The JSON of a problem; also used for the items of a batch, where `requestId` is left out.
package struct ProblemDocument: Encodable, Sendable, Equatable {
    package var type: String
    package var title: String
    package var status: Int
    package var detail: String
    package var code: String
    package var pointer: String?
    package var requestId: String?
    package var retryAfter: Int64?

    package init(problem: Problem, requestId: String? = nil) {
        type = problem.type
        title = problem.title
        status = problem.status.code
        detail = problem.detail
        code = problem.code
        pointer = problem.pointer
        retryAfter = problem.retryAfterSeconds
        self.requestId = requestId
    }
}
