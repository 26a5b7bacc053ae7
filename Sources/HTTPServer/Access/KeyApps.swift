/// The apps that an API key may write for. What a key may read is the matter of its scopes alone.
package enum KeyApps: Sendable, Hashable {
    case all
    /// At least one; writing for another app, or for none in particular, is refused.
    case only(Set<String>)

    /// For names as they are stored: nil for all.
    package init(_ names: [String]?) {
        self = names.map { .only(Set($0)) } ?? .all
    }

    /// In alphabetical order; nil for all.
    package var names: [String]? {
        if case .only(let names) = self { names.sorted() } else { nil }
    }

    /// - Parameter app: nil for what concerns no app, or all of them.
    package func contains(_ app: String?) -> Bool {
        switch self {
        case .all: true
        // Byte by byte, as the database does: what Unicode takes for the same text may be another app.
        case .only(let names): app.map { app in names.contains { $0.utf8.elementsEqual(app.utf8) } } ?? false
        }
    }

    /// The problem of a write for this app; nil when it may be written for.
    package func refusal(of app: String?, pointer: String? = nil) -> Problem? {
        guard case .only(let names) = self, !contains(app) else { return nil }
        return .appNotAllowed(names.sorted(), pointer: pointer)
    }

    /// Throws 403 when this app may not be written for.
    package func require(_ app: String?, pointer: String? = nil) throws(Problem) {
        if let refusal = refusal(of: app, pointer: pointer) { throw refusal }
    }
}

/// What a key that is limited to apps may do with a route that writes. Keys without a limit, sessions and app users are not concerned.
package enum RouteApps: Sendable, Hashable {
    /// Nothing: what the route changes belongs to no app. The default, so that a route is open to such keys only when it says so.
    case closed
    /// The handler refuses what concerns another app (`Caller.apps`).
    case checked
}
