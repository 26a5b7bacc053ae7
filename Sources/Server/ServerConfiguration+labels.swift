package import Attempts
package import Postgres
import PushContract

extension ServerConfiguration {
    /// What an import folds labels with: the limits and the apps of an instance, so that an app is counted apart in both or in neither.
    package func labelLimiter(on session: any PostgresSession) async throws -> LabelLimiter {
        let labels = LabelLimiter(limits: labelLimits)
        let credentialApps = try PushProviders.entries(self).flatMap(\.apps)
        let usual = try await UsualApps.read(limit: labelLimits.apps, before: .now(), on: session)
        labels.keep(apps: usual.union(credentialApps))
        return labels
    }
}
