import PushContract

/// The sign-in form.
struct SignInPage {
    let frame: PageFrame
    let next: String
    /// As it was typed before a fault.
    let name: String
    let fault: String?

    init(next: ReturnPath, name: String = "", fault: String? = nil, now: Timestamp) {
        frame = PageFrame(title: "Sign in · Pushwatch", person: nil, now: now)
        self.next = next.path
        self.name = name
        self.fault = fault
    }
}
