import PushContract

/// A runbook by itself, as its template sees it.
struct RunbookPage {
    let frame: PageFrame
    let html: String

    init(name: String, markdown: String, person: String, now: Timestamp) {
        frame = PageFrame(title: "\(name) · Pushwatch", person: person, now: now)
        html = MarkdownHTML.html(markdown, headingsFrom: 1)
    }
}

/// The sign-in form.
struct SignInPage {
    let frame: PageFrame
    let next: String
    let fault: String?

    init(next: ReturnPath, fault: String? = nil, now: Timestamp) {
        frame = PageFrame(title: "Sign in · Pushwatch", person: nil, now: now)
        self.next = next.path
        self.fault = fault
    }
}

/// The step between a link on another site and a page here.
struct BouncePage {
    let next: String
    let stylesheet: String

    init(next: ReturnPath) {
        self.next = next.path
        stylesheet = Stylesheet.path
    }
}

/// A page that could not be made.
struct FaultPage {
    let frame: PageFrame
    let title: String
    let detail: String
    let requestId: String

    init(title: String, detail: String, requestId: String, isPassing: Bool, now: Timestamp) {
        frame = PageFrame(title: "\(title) · Pushwatch", refreshSeconds: isPassing ? 10 : nil, person: nil, now: now)
        self.title = title
        self.detail = detail
        self.requestId = requestId
    }
}
