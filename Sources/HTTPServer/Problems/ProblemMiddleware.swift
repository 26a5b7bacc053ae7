import Hummingbird
import Logging

/// Turns whatever a route throws into a problem document, and a wrong method into 405. For paths that no route has, pages may answer
/// instead (`HTTPRouter.onUnknownPath`).
///
/// Guarantees that no error leaves the server in another shape and that nothing internal is in the answer. Errors of ours
/// (5xx) are logged with the request id; 503 as a warning, since it is expected under load or without a database, and ten a second.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = PushwatchContext

    private let routes: RouteTable
    private let translate: ProblemTranslation
    /// Of 503 alone, which come by the thousand when we are full.
    private let overload = LogThrottle(perSecond: 10)

    init(routes: RouteTable, translate: @escaping ProblemTranslation) {
        self.routes = routes
        self.translate = translate
    }

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            // The router answers 404 for a known path with another method (RFC 9110 wants 405 with `Allow`).
            let isUnrouted = context.isUnrouted && (error as? HTTPError)?.status == .notFound
            let problem = (isUnrouted ? routes.wrongMethod(request) : nil) ?? Problem.from(error, translate: translate)
            if isUnrouted, let response = routes.unknownPath(request, context, problem) { return response }
            log(error, as: problem, context: context)
            return problem.response(requestId: context.requestId)
        }
    }

    private func log(_ error: any Error, as problem: Problem, context: PushwatchContext) {
        guard problem.status.kind == .serverError else { return }
        var metadata: Logger.Metadata = ["status": "\(problem.status.code)", "code": "\(problem.code)", "reason": "\(error)"]
        guard problem.status == .serviceUnavailable else { return context.logger.error("request failed", metadata: metadata) }
        guard let leftOut = overload.admit(now: .now) else { return }
        if leftOut > 0 { metadata["leftOut"] = "\(leftOut)" }
        context.logger.warning("request failed", metadata: metadata)
    }
}
