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
