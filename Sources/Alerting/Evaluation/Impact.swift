import AlertRules
import Attempts
import Logging
import Postgres
import PushContract

/// Who is affected by an alert that begins: dimension values, app versions, the provider's own codes, and devices.
struct Impact: Sendable {
    var contributors: [Contributor]
    /// Nil when no attempts could be read.
    var devices: AffectedDevices?

    /// The attempts are sampled within limits of rows and time. What the sample does not cover is marked as estimated, or as a lower bound.
    static func read(
        _ rule: AlertRule,
        group: GroupKey,
        window: WindowCounts,
        usual: Double? = nil,
        time: Duration,
        logger: Logger,
        on pool: PostgresPool
    ) async throws -> Impact {
        let shares = try await ContributorRanking.shares(rule, group: group, window: window, on: pool)
        let sample: AttemptSample?
        do {
            sample = try await AttemptSample.read(rule, group: group, window: window, time: time, on: pool)
        } catch let error as PostgresError where !error.isUnavailable {
            logger.warning("the attempts of an alert could not be read", metadata: ["rule": "\(rule.name)", "error": "\(error)"])
            sample = nil
        }
        let contributors = ContributorRanking.rank(shares, sample, usual: usual)
        guard let sample, sample.attempts > 0 else { return Impact(contributors: contributors, devices: nil) }
        let isComplete = sample.areAllDevices && sample.attempts >= window.counts.attempts
        return Impact(contributors: contributors, devices: AffectedDevices(withoutSuccess: sample.devices, isComplete: isComplete))
    }
}
