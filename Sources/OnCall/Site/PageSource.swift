/// Where a page is read from. As a task-local it belongs to the request, as the reader's zone does.
enum PageSource {
    /// How old what the replica shows is, at most; nil: the page is read from the primary.
    @TaskLocal static var age: Duration?

    /// In words, for the end of the page.
    static var text: String? {
        age.map { "Read from a replica: everything until \($0.components.seconds + 1) s before is here." }
    }
}
