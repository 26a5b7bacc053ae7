import PushContract

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
