package import Postgres
package import PushContract

/// Where a credential is used.
package struct AppEnvironment: Sendable, Hashable {
    @ExactText package var app: String
    package var environment: PushEnvironment

    package init(app: String, environment: PushEnvironment) {
        self.app = app
        self.environment = environment
    }
}

extension Set<AppEnvironment> {
    /// The condition of SQL that a row of `alias` is at none of them.
    package func exclusion(of alias: String) -> Query {
        guard !isEmpty else { return "true" }
        return """
            NOT EXISTS (SELECT FROM unnest(\(map(\.app)), \(map(\.environment.rawValue))) AS excluded(app, environment)
                WHERE excluded.app = \(raw: alias).app AND excluded.environment = \(raw: alias).environment::text)
            """
    }
}
