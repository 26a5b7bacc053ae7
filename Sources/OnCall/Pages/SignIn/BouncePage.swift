/// The step between a link on another site and a page here.
struct BouncePage {
    let next: String
    let stylesheet: String

    init(next: ReturnPath) {
        self.next = next.path
        stylesheet = Stylesheet.path
    }
}
