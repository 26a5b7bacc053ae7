package import HTTPServer
import HTTPTypes
import Hummingbird
package import Postgres

/// The site for people: what happens now, an alert, a runbook, signing in and out.
///
/// The paths do not collide with the API: `GET /alerts/{id}` answers machines, `GET /oncall/alerts/{id}` people.
package struct OnCallRoutes: Sendable {
    /// Where browsers without a session are sent: `AuthenticationMiddleware(signInPath:)`.
    package static let signInPath = "/sign-in"

    /// The site read from a replica, and whether it may be.
    package struct Replica: Sendable {
        let site: OnCallSite
        let watch: ReplicaWatch

        package init(site: OnCallSite, watch: ReplicaWatch) {
            self.site = site
            self.watch = watch
        }
    }

    private let site: OnCallSite
    private let replica: Replica?
    private let templates: PageTemplates

    /// Throws when a template does not parse.
    package init(_ site: OnCallSite, replica: Replica? = nil) throws {
        self.site = site
        self.replica = replica
        templates = try PageTemplates()
    }

    package func add(to router: HTTPRouter) {
        AssetRoutes.add(to: router)
        let faults = PageFaults(templates: templates, now: site.clock)
        for page in SitePages.all {
            router.on(
                RouterPath(page.path),
                method: page.method,
                page.access,
                middleware: [ZoneOfReader(), faults]
            ) { [self] request, context -> Response in
                // Here the reader is known; errors of authentication are answered outside.
                try await faults.handle(request, context: context) { try await answer(page, $0, $1) }
            }
        }
        router.onUnknownPath { faults.page($0, $1, $2) }
    }

    private func answer(_ page: SitePage, _ request: Request, _ context: PushwatchContext) async throws -> Response {
        if page.method == .get, let answer = await answerFromReplica(page, request, context) { return answer }
        // After it as well: what the form wrote may be committed by then.
        defer { if page.method != .get { replica?.watch.noteWrite() } }
        return try await page.answer(call(request, context, site))
    }

    private func call(_ request: Request, _ context: PushwatchContext, _ site: OnCallSite) -> PageCall {
        PageCall(request: request, context: context, site: site, templates: templates, now: site.clock())
    }

    /// Nil where the primary is to be read.
    private func answerFromReplica(_ page: SitePage, _ request: Request, _ context: PushwatchContext) async -> Response? {
        guard let replica else { return nil }
        guard let age = replica.watch.age() else {
            replica.watch.noteFallback()
            return nil
        }
        let answer = try? await PageSource.$age.withValue(age) { try await page.answer(call(request, context, replica.site)) }
        if let answer, answer.status != .notFound { return answer }
        // What is requested is newer than the replica, its replay ended a statement, or it is away since the last check.
        replica.watch.noteFallback()
        return nil
    }
}
