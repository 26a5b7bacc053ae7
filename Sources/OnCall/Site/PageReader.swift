/// Who reads a page.
struct PageReader {
    var name: String
    /// Whether the page offers actions: acknowledge, silence, throttle.
    var mayAcknowledge: Bool
}
