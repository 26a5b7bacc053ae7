import PushContract

/// What surrounds every page.
struct PageFrame {
    /// Whether the tab's icon shows that an alert is firing.
    enum State { case calm, alarmed }

    let title: String
    /// Without a script the whole page is loaded again after so long; nil: never.
    let refreshSeconds: Int?
    /// With a script, the contents are.
    let freshSeconds: Int?
    let stylesheet: String
    let script: String
    let icon: String
    let links: [SitePage.Link]
    /// Who is signed in; nil on the sign-in page.
    let person: String?
    /// When the page was made, in UTC.
    let clock: String
    let clockAttribute: String
    /// The same by the reader's clock, in parentheses; nil where that is not known or the same.
    let ownClock: String?
    /// The time zones of the page, in words.
    let zone: String
    /// That the page is read from a replica, and how old that may be; nil: from the primary.
    let source: String?
    /// True for the answer to a form, which cannot be asked for again by its address.
    let isAnswer: Bool

    init(title: String, state: State = .calm, refreshSeconds: Int? = nil, isAnswer: Bool = false, person: String?, now: Timestamp) {
        self.title = title
        self.refreshSeconds = refreshSeconds
        self.person = person
        links = SitePages.links
        freshSeconds = refreshSeconds.map { max(5, $0 / 3) }
        stylesheet = Stylesheet.path
        script = RefreshScript.path
        icon = Self.icon(state)
        clock = ClockText.timeWithSeconds(now)
        clockAttribute = now.rfc3339
        ownClock = ClockText.own(now)
        zone = ReaderZone.current.flatMap { $0.wallClock(now) == nil ? nil : "UTC and \($0.city)" } ?? "UTC"
        source = PageSource.text
        self.isAnswer = isAnswer
    }

    /// A dot in the tab: its colour is the state.
    private static func icon(_ state: State) -> String {
        let colour = state == .alarmed ? "%23c62828" : "%232e7d4f"
        return "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
            + "%3Ccircle cx='8' cy='8' r='6' fill='\(colour)'/%3E%3C/svg%3E"
    }
}
