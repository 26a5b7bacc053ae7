import Postgres
package import PushContract

/// Where a credential is used for Live Activities.
package struct LivePlace: Sendable, Hashable {
    package var app: String
    package var environment: PushEnvironment

    package init(app: String, environment: PushEnvironment) {
        self.app = app
        self.environment = environment
    }
}

extension Set<LivePlace> {
    /// The condition of SQL that a row of `alias` is at none of them.
    func exclusion(of alias: String) -> Query {
        guard !isEmpty else { return "true" }
        return """
            NOT EXISTS (SELECT FROM unnest(\(map(\.app)), \(map(\.environment.rawValue))) AS kept(app, environment)
                WHERE kept.app = \(raw: alias).app AND kept.environment = \(raw: alias).environment::text)
            """
    }
}
