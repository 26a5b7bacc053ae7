package import HTTPServer
import Hummingbird

/// The site for people: what happens now, an alert, a runbook, signing in and out.
///
/// The paths do not collide with the API: `GET /alerts/{id}` answers machines, `GET /oncall/alerts/{id}` people.
package struct OnCallRoutes: Sendable {
    /// Where browsers without a session are sent: `AuthenticationMiddleware(signInPath:)`.
    package static let signInPath = "/sign-in"

    private let site: OnCallSite
    private let templates: PageTemplates

    /// Throws when a template does not parse.
    package init(_ site: OnCallSite) throws {
        self.site = site
        templates = try PageTemplates()
    }

    package func add(to router: HTTPRouter) {
        AssetRoutes.add(to: router)
        for page in SitePages.all {
            router.on(
                RouterPath(page.path),
                method: page.method,
                page.access,
                middleware: [ZoneOfReader(), PageFaults(templates: templates, now: site.clock)]
            ) { [site, templates] request, context in
                try await page.answer(
                    PageCall(request: request, context: context, site: site, templates: templates, now: site.clock())
                )
            }
        }
    }
}
