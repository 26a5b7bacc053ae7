package import AlertRules
import Attempts
package import Postgres
package import PushContract

/// A person whose push failed in the window of an alert.
package struct AffectedPerson: Sendable, Hashable {
    package var uid: String
    package var at: Timestamp
    package var reason: String
    /// The provider's own code.
    package var code: String?
    package var appVersion: String?

    /// Ten people at most, each with the newest failure of a bounded sample of the window, which is read within half a second.
    package static func some(
        _ rule: AlertRule,
        group: GroupKey,
        window: WindowCounts,
        limit: Int = 10,
        on pool: PostgresPool
    ) async throws -> [AffectedPerson] {
        guard case .attempts = rule.condition.source else { return [] }
        let reader = SampleReader(rule, group: group, window: window, perSlice: 250, time: .milliseconds(500), on: pool)
        let slices = try await reader.slices(
            """
            SELECT DISTINCT ON (uid) uid, attemptedAt, reason, nullif(code, ''), nullif(appVersion, '') FROM sampled WHERE isBad
            ORDER BY uid, attemptedAt DESC
            """
        )
        var newest: [ExactText: AffectedPerson] = [:]
        for row in slices.joined() {
            let values = try row.decode((String, Timestamp, String, String?, String?).self)
            let person = AffectedPerson(uid: values.0, at: values.1, reason: values.2, code: values.3, appVersion: values.4)
            if let known = newest[ExactText(person.uid)], known.at >= person.at { continue }
            newest[ExactText(person.uid)] = person
        }
        return Array(newest.values.sorted { ($1.at, $0.uid) < ($0.at, $1.uid) }.prefix(limit))
    }
}
