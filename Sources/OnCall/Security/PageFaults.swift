import HTTPServer
import HTTPTypes
import Hummingbird
import Logging
import Postgres
import PushContract

/// Answers errors of a page with a page instead of a problem document.
struct PageFaults: RouterMiddleware {
    typealias Context = PushwatchContext

    let templates: PageTemplates
    let now: @Sendable () -> Timestamp

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return page(problem.title, problem.detail, status: problem.status, context: context)
        } catch let error as PostgresError {
            context.logger.warning("Page failed", metadata: ["reason": "\(error)"])
            let detail =
                "The database does not respond, so this page cannot be shown and no rule is evaluated. The page tries again by itself."
            return page("The database is unavailable", detail, status: .serviceUnavailable, context: context)
        }
    }

    private func page(_ title: String, _ detail: String, status: HTTPResponse.Status, context: PushwatchContext) -> Response {
        let model = FaultPage(
            title: title,
            detail: detail,
            requestId: context.requestId,
            isPassing: status == .serviceUnavailable,
            now: now()
        )
        var response = PageResponse.html(templates.html(.fault, model), status: status)
        if status == .serviceUnavailable { response.headers[.retryAfter] = "10" }
        return response
    }
}
