import Foundation
import HTTPClient
package import Logging
import Metrics
package import Postgres
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Sends firing alerts to every Alertmanager again each minute, so that it neither expires nor resolves them, and resolved alerts for a
/// quarter of an hour, so that a member that was unavailable receives them.
///
/// Every instance may run one: Alertmanager merges posts of the same alert. While the database is unavailable, the alerts that fired last
/// are sent, marked `stale_since`: only a read that shows the end of an alert resolves it.
package actor AlertmanagerResender: Service {
    private let pool: PostgresPool
    private let receivers: ReceiverRegistry
    private let externalURL: String
    private let logger: Logger
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let send: AlertHTTP
    private var known: [AlertNotification] = []
    private var checkedAt: Timestamp?

    package init(
        pool: PostgresPool,
        receivers: ReceiverRegistry,
        externalURL: String,
        logger: Logger,
        interval: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        send: @escaping AlertHTTP
    ) {
        self.pool = pool
        self.receivers = receivers
        self.externalURL = externalURL
        self.logger = logger
        self.interval = interval
        self.clock = clock
        self.now = now
        self.send = send
    }

    package func run() async throws {
        try await PeriodicService("alertmanager resend", every: self.interval, shutdown: .awaitsBody, clock: clock, logger: logger) {
            await self.resend()
        }.run()
    }

    /// One round: read, post, read again. Returns how many posts a member accepted.
    @discardableResult
    package func resend() async -> Int {
        receivers.refresh()
        let clusters = receivers.set.clusters
        guard !clusters.isEmpty else { return 0 }
        let staleSince = await read(clusters)
        let posted = known
        let taken = await post(posted, to: clusters, staleSince: staleSince)
        guard staleSince == nil else { return taken }
        // An alert that ended while it was being sent as firing would fire there until the next round.
        guard await read(clusters) == nil else { return taken }
        let ended = known.filter { message in
            message.kind == .resolved
                && posted.contains { $0.kind == .firing && $0.alertId == message.alertId && $0.receiver == message.receiver }
        }
        return taken + (await post(ended, to: clusters, staleSince: nil))
    }

    /// Brings `known` up to date. Returns since when it is not, if the database cannot be read.
    private func read(_ clusters: [String: AlertmanagerCluster]) async -> Timestamp? {
        let now = now()
        do {
            known = try await ResendableNotifications.current(
                receivers: Array(clusters.keys),
                endedSince: now - AlertmanagerAlert.lifetime,
                externalURL: externalURL,
                on: pool
            )
            checkedAt = now
            return nil
        } catch {
            logger.warning("alerts are sent to Alertmanager as last known", metadata: ["error": "\(error)"])
            known.removeAll { $0.kind == .resolved }
            return checkedAt ?? now
        }
    }

    private func post(_ messages: [AlertNotification], to clusters: [String: AlertmanagerCluster], staleSince: Timestamp?) async -> Int {
        let now = now()
        var requests: [(receiver: String, request: OutboundRequest)] = []
        for (receiver, messages) in Dictionary(grouping: messages, by: \.receiver) {
            guard let cluster = clusters[receiver] else { continue }
            let alerts = AlertmanagerAlert.latest(messages, now: now, staleSince: staleSince)
            do {
                requests += try cluster.requests(alerts).map { request in
                    var request = request
                    request.connectionGroup = receiver
                    return (receiver, request)
                }
            } catch {
                logger.error("alerts could not be encoded for Alertmanager", metadata: ["error": "\(error)"])
            }
        }
        return await withTaskGroup(of: Bool.self) { [requests, send, logger] group in
            for (receiver, request) in requests {
                group.addTask { await Self.isTaken(request, receiver, send, logger) }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }

    private static func isTaken(_ request: OutboundRequest, _ receiver: String, _ send: AlertHTTP, _ logger: Logger) async -> Bool {
        var fault: String?
        do {
            let response = try await send(request)
            if response.status != 200 { fault = "HTTP \(response.status)" }
        } catch {
            fault = "\(error)"
        }
        let result = fault == nil ? "taken" : "failed"
        Counter(label: "pushwatch_alertmanager_posts_total", dimensions: [("receiver", receiver), ("result", result)]).increment()
        guard let fault else { return true }
        logger.warning("an Alertmanager did not accept alerts", metadata: ["receiver": "\(receiver)", "error": "\(fault)"])
        return false
    }
}

extension ReceiverSet {
    var clusters: [String: AlertmanagerCluster] {
        receivers.reduce(into: [:]) { clusters, configured in
            if let receiver = configured.receiver as? AlertmanagerReceiver { clusters[receiver.name] = receiver.cluster }
        }
    }
}

extension AlertmanagerAlert {
    /// One alert for each identity: what fires goes before what ended, or a new alert would be resolved by the one before it.
    static func latest(_ messages: [AlertNotification], now: Timestamp, staleSince: Timestamp?) -> [AlertmanagerAlert] {
        let ordered = messages.sorted { a, b in
            (a.kind == .firing ? 0 : 1, b.startsAt) < (b.kind == .firing ? 0 : 1, a.startsAt)
        }
        var seen: Set<[String: ExactText]> = []
        return ordered.map { AlertmanagerAlert($0, now: now, staleSince: staleSince) }.filter {
            seen.insert($0.labels.mapValues { ExactText($0) }).inserted
        }
    }
}
