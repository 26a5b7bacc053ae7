import HTTPServer
import HTTPTypes
import Hummingbird
import Logging
import Postgres
import PushContract

/// Answers errors of a page, and of the authentication of its reader, with a page instead of a problem document. Callers that do not prefer
/// HTML get the document. Within authentication the page has the navigation and names its reader.
struct PageFaults: RouterMiddleware {
    typealias Context = PushwatchContext

    let templates: PageTemplates
    let now: @Sendable () -> Timestamp

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        guard MediaType.prefersHTML(request.headers[.accept]) else { return try await next(request, context) }
        do {
            return try await next(request, context)
        } catch let error as PostgresError {
            context.logger.warning("page failed", metadata: ["reason": "\(error)"])
            return page(error.pageTitle, error.pageDetail(isForm: request.isForm), status: .serviceUnavailable, request, context)
        } catch let error where !(error is CancellationError) {
            // Other errors become the problem that other callers get, without internal details.
            let problem = Problem.from(error) { _ in nil }
            if !(error is Problem), problem.status.kind == .serverError {
                context.logger.error("page failed", metadata: ["reason": "\(error)"])
            }
            var response =
                Self.isFormWithoutSession(request, problem)
                ? signIn(request, status: problem.status)
                : page(problem.title, problem.detail, status: problem.status, request, context)
            response.headers.append(contentsOf: problem.headers)
            return response
        }
    }

    /// For an address that is no page: nil for callers that do not prefer HTML.
    func page(_ request: Request, _ context: PushwatchContext, _ problem: Problem) -> Response? {
        guard MediaType.prefersHTML(request.headers[.accept]) else { return nil }
        var response = page(problem.title, problem.detail, status: problem.status, request, context)
        response.headers.append(contentsOf: problem.headers)
        return response
    }

    /// A form of this very site whose sender's session ended since the page was loaded.
    private static func isFormWithoutSession(_ request: Request, _ problem: Problem) -> Bool {
        problem.status == .unauthorized && request.isForm && (try? SameOrigin.require(request)) != nil
    }

    /// Not a redirect: this answer says that nothing was done, and a step back in the browser leads to the form as it was filled in.
    private func signIn(_ request: Request, status: HTTPResponse.Status) -> Response {
        let fault = "Your session has ended, so this was not done. Sign in, then send it again."
        return PageResponse.html(
            templates.html(.signIn, SignInPage(next: ReturnPath(ofForm: request), fault: fault, now: now())),
            status: status
        )
    }

    private func page(
        _ title: String,
        _ detail: String,
        status: HTTPResponse.Status,
        _ request: Request,
        _ context: PushwatchContext
    ) -> Response {
        let model = FaultPage(
            title: title,
            detail: detail,
            requestId: context.requestId,
            // The answer to a form cannot be requested again by its address.
            isPassing: status == .serviceUnavailable && !request.isForm,
            // The address of a form, after a reload: the page that has it is above.
            back: request.isForm || status == .methodNotAllowed ? ReturnPath(ofForm: request) : .home,
            person: context.caller?.name,
            now: now()
        )
        var response = PageResponse.html(templates.html(.fault, model), status: status)
        if status == .serviceUnavailable { response.headers[.retryAfter] = "10" }
        return response
    }
}

extension Request {
    fileprivate var isForm: Bool { method == .post }
}

extension PostgresError {
    /// Whether rules can be evaluated is another matter where only the pages' connections are all in use.
    private var isAway: Bool { isUnavailable && code != .poolExhausted }

    fileprivate var pageTitle: String { isAway ? "The database is unavailable" : "The database did not complete this" }

    fileprivate func pageDetail(isForm: Bool) -> String {
        let cause =
            isAway
            ? "The database does not respond, so no rule is evaluated."
            : "The database did not complete this request; the log has the reason."
        guard isForm else { return "\(cause) The page tries again by itself." }
        guard isConnectionLoss else { return "\(cause) This was not done: go back to the page, and send it again." }
        return "\(cause) It is not known whether this was done: go back to the page, and send it again unless it was."
    }
}
