import Foundation

/// Tests create and drop databases; they must never do so on a machine that somebody else uses.
enum LocalHostGuard {
    struct NotLocal: Error, CustomStringConvertible {
        let description: String
    }

    static func check(_ url: String) throws {
        guard let parts = URLComponents(string: url) else { throw NotLocal(description: "the test database's URL cannot be read") }
        let named = (parts.queryItems ?? []).filter { $0.name == "host" || $0.name == "hostaddr" }.flatMap {
            ($0.value ?? "").split(separator: ",")
        }
        let hosts = [parts.host].compactMap { $0 }.filter { !$0.isEmpty } + named.map(String.init)
        for host in hosts where !host.hasPrefix("/") && !["localhost", "127.0.0.1", "::1", "[::1]"].contains(host) {
            throw NotLocal(
                description: "tests refuse the database host \(host): only this machine's (a socket, localhost, 127.0.0.1, ::1) is used"
            )
        }
    }

    /// The same URL with another database.
    static func url(_ url: String, database: String) -> String {
        guard var parts = URLComponents(string: url) else { return url }
        parts.path = "/" + database
        return parts.string ?? url
    }
}
