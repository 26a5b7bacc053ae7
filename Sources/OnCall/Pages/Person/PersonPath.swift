import ServiceKit

/// Where a person's page is.
enum PersonPath {
    static func path(uid: String) -> String { "/people/" + PathText.encoded(uid) }
}
