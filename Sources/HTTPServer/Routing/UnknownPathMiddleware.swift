import Hummingbird

/// Answers requests whose path and method no route has.
struct UnknownPathMiddleware: RouterMiddleware {
    typealias Context = PushwatchContext

    let routes: RouteTable
    /// Nil for those that get the problem document.
    let answer: @Sendable (Request, PushwatchContext, Problem) -> Response?

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where context.isUnrouted && error.status == .notFound {
            let problem = routes.wrongMethod(request) ?? Problem.from(error) { _ in nil }
            guard let response = answer(request, context, problem) else { throw error }
            return response
        }
    }
}
