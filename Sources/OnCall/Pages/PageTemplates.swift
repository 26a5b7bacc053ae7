import Mustache

/// All templates, parsed once.
struct PageTemplates: Sendable {
    enum Page: String, CaseIterable {
        case now, alert, person, search, matches, match, rules, notifications, audit, silence, accept, throttle, credentials, runbook, zone,
            signIn
        case bounce
        case fault
    }

    private let library: MustacheLibrary

    /// Throws when a template does not parse, which a test would have shown.
    init() throws {
        var library = MustacheLibrary()
        for (name, text) in Self.texts { try library.register(text, named: name) }
        self.library = library
    }

    func html(_ page: Page, _ model: Any) -> String { library.render(PageTree.of(model), withTemplate: page.rawValue) ?? "" }

    private static let texts: [(String, String)] = [
        ("head", HeadTemplate.text), ("foot", FootTemplate.text), ("alertCard", AlertCardTemplate.text), ("traffic", TrafficTemplate.text),
        ("queue", QueueTemplate.text), ("systemStatus", SystemStatusTemplate.text), (Page.matches.rawValue, MatchesTemplate.text),
        (Page.match.rawValue, MatchTemplate.text), (Page.credentials.rawValue, CredentialsTemplate.text),
        (Page.now.rawValue, NowTemplate.text), (Page.alert.rawValue, AlertTemplate.text),
        (Page.person.rawValue, PersonTemplate.text), (Page.search.rawValue, SearchTemplate.text),
        (Page.rules.rawValue, RulesTemplate.text), (Page.notifications.rawValue, NotificationsTemplate.text),
        (Page.audit.rawValue, AuditTemplate.text), (Page.silence.rawValue, SilenceTemplate.text),
        (Page.accept.rawValue, AcceptTemplate.text), ("acceptance", AcceptanceTemplate.text),
        (Page.throttle.rawValue, ThrottleTemplate.text), (Page.runbook.rawValue, RunbookTemplate.text),
        (Page.zone.rawValue, ZoneTemplate.text), (Page.signIn.rawValue, SignInTemplate.text),
        (Page.bounce.rawValue, BounceTemplate.text), (Page.fault.rawValue, FaultTemplate.text),
    ]
}
