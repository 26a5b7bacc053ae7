import HTTPServer
import HTTPTypes

/// Every page and form of the site. A new page is a folder in `Pages` and a line here.
enum SitePages {
    static let all: [SitePage] = [
        .page("", .scope(.alertsRead), title: "Now", .now, NowPage.answer),
        .page("oncall/matches", .scope(.alertsRead), title: "Live", .matches, MatchesPage.answer),
        .page("oncall/matches/:subject", .scope(.alertsRead), .match, MatchPage.answer),
        .page("oncall/rules", .scope(.alertsRead), title: "Rules", .rules, RulesPage.answer),
        .page("oncall/notifications", .scope(.alertsRead), title: "Notifications", .notifications, NotificationsPage.answer),
        .page("oncall/audit", .scope(.alertsRead), title: "Audit", .audit, AuditPage.answer),
        .page("oncall/sessions", .scope(.alertsRead), .sessions, SessionsPage.answer),
        .form("oncall/sessions/:id/end", .scope(.alertsWrite), use: SessionsPage.end),
        .page("oncall/alerts/:id", .scope(.alertsRead), .alert, AlertPage.answer),
        .form("oncall/alerts/:id/acknowledge", .scope(.alertsWrite), use: AlertPage.acknowledge),
        .form("oncall/alerts/:id/mark", .scope(.alertsWrite), use: AlertPage.mark),
        .page("oncall/alerts/:id/silence", .scope(.alertsWrite), .silence, SilencePage.answer),
        .form("oncall/alerts/:id/silence", .scope(.alertsWrite), use: SilencePage.silence),
        .page("oncall/alerts/:id/accept", .scope(.alertsWrite), .accept, AcceptPage.answer),
        .form("oncall/alerts/:id/accept", .scope(.alertsWrite), use: AcceptPage.accept),
        .form("oncall/acceptances/:id/undo", .scope(.alertsWrite), use: AcceptPage.undo),
        .form("oncall/silences/:id/end", .scope(.alertsWrite), use: SilencePage.end),
        .form("oncall/circuits/:id/close", .scope(.alertsWrite), use: NowPage.closeCircuit),
        .form("oncall/pauses/end", .scope(.alertsWrite), use: NowPage.endPause),
        .form("oncall/credentials/check", .scope(.alertsWrite), .credentials, use: CredentialsPage.check),
        .page("oncall/throttle", .scope(.alertsWrite), .throttle, ThrottlePage.answer),
        .form("oncall/throttle", .scope(.alertsWrite), use: ThrottlePage.throttle),
        .form("oncall/throttle/lift", .scope(.alertsWrite), use: ThrottlePage.remove),
        .page("runbooks/:name", .scope(.alertsRead), .runbook, RunbookPage.answer),
        .form("search", .scope(.alertsRead), .search, use: SearchPage.answer),
        .page("people/:uid", .scope(.alertsRead), .person, PersonPage.answer),
        .page("oncall/zone", .scope(.alertsRead), .zone, ZonePage.answer),
        .form("oncall/zone", .scope(.alertsRead), use: ZonePage.choose),
        .page("sign-in", .open, .signIn, SignInPage.answer),
        .form("sign-in", .open, .signIn, use: SignInPage.open),
        .form("sign-out", .open, use: SignInPage.close),
    ]

    /// Whether this path can be asked for, as opposed to that of a form.
    static func hasPage(at path: String) -> Bool {
        let segments = path.split(separator: "/")
        return all.contains { page in
            let pattern = page.path.split(separator: "/")
            return page.method == .get && pattern.count == segments.count
                && zip(pattern, segments).allSatisfy { $0 == $1 || $0.hasPrefix(":") }
        }
    }

    /// The navigation.
    static let links: [SitePage.Link] = all.compactMap { page in page.title.map { SitePage.Link(path: "/\(page.path)", title: $0) } }
}
