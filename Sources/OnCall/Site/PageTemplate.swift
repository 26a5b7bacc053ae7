/// The text of a page, or of a part that several pages have.
struct PageTemplate: Sendable {
    let name: String
    let parts: [PageTemplate]
    let text: String

    init(_ name: String, with parts: [PageTemplate] = [], _ text: String) {
        self.name = name
        self.parts = parts
        self.text = text
    }
}
