import Alerting
import Foundation
package import HTTPServer
import HTTPTypes
package import Hummingbird
import Logging
package import PushContract

/// The site for people: what happens now, an alert, a runbook, signing in and out.
///
/// Every page needs `alerts:read`; acknowledging needs `alerts:write`. The paths do not collide with the API: `GET /alerts/{id}` answers
/// machines, `GET /oncall/alerts/{id}` people.
package struct OnCallRoutes: Sendable {
    /// Where browsers without a session are sent: `AuthenticationMiddleware(signInPath:)`.
    package static let signInPath = "/sign-in"
    /// Routes that need no session: `AuthenticationMiddleware(open:)`.
    package static let openPaths: Set<String> = AssetRoutes.paths.union(["/sign-in", "/sign-out"])

    let now: NowStore
    let alerts: AlertPageStore
    let people: PersonStore
    let rules: RulesStore
    let notifications: NotificationsStore
    let matches: MatchesStore
    let systemStatus: SystemStatusStore
    let credentials: CredentialChecker
    let actions: OnCallActions
    private let runbooks: RunbookDirectory
    private let signInHandler: SignInHandler
    let templates: PageTemplates
    let clock: @Sendable () -> Timestamp

    /// Throws when a template does not parse.
    package init(
        now: NowStore,
        alerts: AlertPageStore,
        people: PersonStore,
        rules: RulesStore,
        notifications: NotificationsStore,
        matches: MatchesStore,
        systemStatus: SystemStatusStore,
        credentials: CredentialChecker,
        actions: OnCallActions,
        runbooks: RunbookDirectory,
        signInHandler: SignInHandler,
        clock: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws {
        self.now = now
        self.alerts = alerts
        self.people = people
        self.rules = rules
        self.notifications = notifications
        self.matches = matches
        self.systemStatus = systemStatus
        self.credentials = credentials
        self.actions = actions
        self.runbooks = runbooks
        self.signInHandler = signInHandler
        self.clock = clock
        templates = try PageTemplates()
    }

    package func add(to router: some RouterMethods<PushwatchContext>) {
        AssetRoutes.add(to: router)
        let pages = router.group("").add(middleware: ZoneOfReader()).add(middleware: PageFaults(templates: templates, now: clock))
        SignInRoutes(signInHandler: signInHandler, templates: templates, now: clock).add(to: pages)
        pages.get("", use: nowPage)
        pages.get("oncall/alerts/:id", use: alertPage)
        pages.post("oncall/alerts/:id/acknowledge", use: acknowledge)
        pages.get("oncall/alerts/:id/silence", use: silencePage)
        pages.post("oncall/alerts/:id/silence", use: silence)
        pages.get("oncall/alerts/:id/accept", use: acceptPage)
        pages.post("oncall/alerts/:id/accept", use: accept)
        pages.post("oncall/acceptances/:id/undo", use: undoAcceptance)
        pages.post("oncall/alerts/:id/mark", use: mark)
        pages.post("oncall/credentials/check", use: checkCredentials)
        pages.get("oncall/throttle", use: throttlePage)
        pages.post("oncall/throttle", use: throttle)
        pages.post("oncall/throttle/lift", use: removeThrottle)
        pages.get("runbooks/:name", use: runbookPage)
        pages.post("search", use: search)
        pages.get("people/:uid", use: personPage)
        pages.get("oncall/rules", use: rulesPage)
        pages.get("oncall/matches", use: matchesPage)
        pages.get("oncall/matches/:subject", use: matchPage)
        pages.get("oncall/notifications", use: notificationsPage)
        pages.get("oncall/audit", use: auditPage)
        pages.get("oncall/zone", use: zonePage)
        pages.post("oncall/zone", use: chooseZone)
    }

    @Sendable
    private func nowPage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let reader = try reader(context)
        let moment = clock()
        let data = try await now.read(now: moment)
        let page = NowPage(data, systemStatus: try await systemStatus.read(firing: data.firing, now: moment), reader: reader, now: moment)
        return PageResponse.html(templates.html(.now, page))
    }

    @Sendable
    private func alertPage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let reader = try reader(context)
        let moment = clock()
        guard let data = try await alerts.read(try id(context), now: moment) else { throw Self.unknownAlert }
        let verdict = try await rules.verdict(of: data.alert.id)
        return PageResponse.html(templates.html(.alert, AlertPage(data, verdict: verdict, reader: reader, now: moment)))
    }

    @Sendable
    private func acknowledge(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let caller = try context.require(.alertsWrite)
        let id = try id(context)
        let form = try await FormBody.read(request)
        let done = try await actions.acknowledge(id, by: caller.name, at: clock())
        context.logger.info("Alert acknowledged", metadata: ["alertId": "\(id)", "stillOpen": "\(done)"])
        // An alert that ended meanwhile says so on its page.
        return PageResponse.seeOther(form["back"] == "/" && done ? "/" : "/oncall/alerts/\(id.uuidString.lowercased())")
    }

    @Sendable
    private func runbookPage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let reader = try reader(context)
        let name = try context.parameters.require("name")
        guard let text = runbooks.text(named: name) else {
            throw Problem.notFound("There is no runbook of this name in the alerts directory.")
        }
        return PageResponse.html(templates.html(.runbook, RunbookPage(name: name, markdown: text, person: reader.name, now: clock())))
    }

    func reader(_ context: PushwatchContext) throws -> NowPage.Reader {
        let caller = try context.require(.alertsRead)
        return NowPage.Reader(name: caller.name, mayAcknowledge: caller.scopes.contains(.alertsWrite))
    }

    func id(_ context: PushwatchContext) throws -> UUID {
        guard let id = UUID(uuidString: try context.parameters.require("id")) else { throw Self.unknownAlert }
        return id
    }

    static let unknownAlert = Problem.notFound("There is no alert with this id.")
}
