import HTTPServer
import HTTPTypes
import Hummingbird
import Logging
import Postgres
import PushContract

/// Answers what goes wrong on a page with a page. At night nobody reads problem documents.
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
                "This page cannot be made while the database does not answer. It tries again by itself. No alert is evaluated meanwhile."
            return page("The database is away", detail, status: .serviceUnavailable, context: context)
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
