import PushContract

/// A page that could not be made.
struct FaultPage {
    let frame: PageFrame
    let title: String
    let detail: String
    let requestId: String
    /// The page that has the form; nil for the first page.
    let back: String?

    /// - Parameter person: nil where the reader is not known.
    init(
        title: String,
        detail: String,
        requestId: String,
        isPassing: Bool,
        back: ReturnPath = .home,
        person: String? = nil,
        now: Timestamp
    ) {
        frame = PageFrame(title: "\(title) · Pushwatch", refreshSeconds: isPassing ? 10 : nil, person: person, now: now)
        self.title = title
        self.detail = detail
        self.requestId = requestId
        self.back = back == .home ? nil : back.path
    }
}
