import HTTPClient
import LiveActivities
import Postgres
import ServiceKit
import ServiceLifecycle

extension ServerParts {
    /// Matches are fed by the API and by polled feeds; both write through this.
    var matches: MatchStore { matches(on: pools.ingest) }

    private func matches(on pool: PostgresPool) -> MatchStore {
        MatchStore(pool: pool) { [wake = live.wake] in wake.signal() }
    }

    func prematchAlerts() -> [any Service] {
        guard let lead = configuration.prematchLead else { return [] }
        let alerts = PrematchAlerts(
            pool: pools.live,
            sends: sending.store(pools.live),
            check: sending.check,
            lead: lead,
            wake: sending.wake,
            logger: logger
        )
        return [alerts]
    }

    /// Polls the configured feeds. Without them it marks pushed feeds that became silent.
    func scoreFeeds() -> ScoreFeedPoller {
        ScoreFeedPoller(feeds: configuration.matchFeeds, store: matches(on: pools.live), pool: pools.live, logger: logger) {
            [http] in
            try await http.send($0)
        }
    }
}
