import Alerting
import Delivery
import PushContract

extension SendStore {
    /// The backlog as an alert carries it.
    @Sendable
    func backlogNumbers(now: Timestamp) async throws -> BacklogNumbers {
        let backlog = try await backlog()
        let drain = Drain.all(of: backlog.queues, now: backlog.at)
        return BacklogNumbers(
            waiting: Int64(drain.waiting),
            oldestSeconds: backlog.oldestReadyAt.map { (backlog.at - $0).components.seconds },
            drainSeconds: drain.eta?.components.seconds,
            isGrowing: drain.trend == .growing
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
                waiting: Int64(queues.reduce(0) { $0 + $1.waiting }),
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
