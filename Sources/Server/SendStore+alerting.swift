import Alerting
import Delivery
import PushContract

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
            let queues = backlog.queues.filter { $0.queue.provider == provider }
            return BacklogSample(
                provider: provider.rawValue,
                waiting: Int64(queues.reduce(0) { $0 + $1.ready + $1.retrying }),
                oldestSeconds: queues.compactMap(\.oldestReadyAt).min().map { (backlog.at - $0).components.seconds }
            )
        }
    }

    /// The open circuits, and those that closed since `since`, for alert rules.
    @Sendable
    func circuitSamples(since: Timestamp) async throws -> [CircuitSample] {
        try await waitingCircuits(endedAfter: since).map { circuit in
            CircuitSample(
                circuitId: circuit.id,
                reasonCode: circuit.kind.reasonCode,
                provider: circuit.provider.rawValue,
                app: circuit.app,
                environment: circuit.environment.rawValue,
                platform: circuit.platform?.rawValue ?? "",
                cause: circuit.cause,
                since: circuit.since,
                closedAt: circuit.closedAt,
                waiting: circuit.waiting
            )
        }
    }
}
