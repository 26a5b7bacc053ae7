import Alerting
import PushContract
import Delivery

extension SendStore {
    /// The backlog as an alert carries it.
    @Sendable
    func backlogNumbers(now: Timestamp) async throws -> BacklogNumbers {
        let backlog = try await backlog()
        var drain: Int64?
        if case .after(let duration) = backlog.drain { drain = duration.components.seconds }
        return BacklogNumbers(
            waiting: Int64(backlog.ready + backlog.retrying),
            oldestSeconds: backlog.oldestReadyAt.map { (backlog.at - $0).components.seconds },
            drainSeconds: drain
        )
    }

    /// What waits for each provider.
    @Sendable
    func backlogSamples(now: Timestamp) async throws -> [BacklogSample] {
        let backlog = try await backlog()
        return Provider.allCases.map { provider in
            let lanes = backlog.lanes.filter { $0.lane.provider == provider }
            return BacklogSample(
                provider: provider.rawValue,
                waiting: Int64(lanes.reduce(0) { $0 + $1.ready + $1.retrying }),
                oldestSeconds: lanes.compactMap(\.oldestReadyAt).min().map { (backlog.at - $0).components.seconds }
            )
        }
    }

    /// The credentials that are refused, and those that were since `since`, for alert rules.
    @Sendable
    func holdSamples(since: Timestamp) async throws -> [HoldSample] {
        try await waitingHolds(endedAfter: since).map { hold in
            HoldSample(
                holdId: hold.id,
                provider: hold.provider.rawValue,
                app: hold.app,
                environment: hold.environment.rawValue,
                platform: hold.platform?.rawValue ?? "",
                cause: hold.cause,
                since: hold.since,
                releasedAt: hold.releasedAt,
                waiting: hold.waiting
            )
        }
    }
}
