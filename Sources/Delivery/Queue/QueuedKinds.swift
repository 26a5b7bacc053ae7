package import Logging
import Postgres
import PushContract

/// The kinds of deliveries that features above put into the queue.
package struct QueuedKinds: Sendable {
    /// For processes that send nothing.
    package static let none = QueuedKinds([], logger: Logger(label: "queue"))

    /// Content that could not be read is asked for again after this.
    private static let retryInterval = Duration.seconds(1)

    private let kinds: [String: any QueuedKind]
    private let logger: Logger

    package init(_ kinds: [any QueuedKind], logger: Logger) {
        self.kinds = Dictionary(uniqueKeysWithValues: kinds.map { ($0.name, $0) })
        self.logger = logger
    }

    subscript(name: String) -> (any QueuedKind)? { kinds[name] }

    /// What was claimed, with its content. A claim whose content cannot be read now is given back.
    func completing(_ deliveries: [ClaimedDelivery]) async -> [ClaimedDelivery] {
        var deliveries = deliveries
        let byKind = Dictionary(grouping: deliveries.indices.filter { deliveries[$0].queued != nil }) { deliveries[$0].queued?.kind ?? "" }
        for (name, indexes) in byKind {
            let contents = await contents(of: indexes.compactMap { deliveries[$0].queued }, kind: name)
            for index in indexes {
                let delivery = deliveries[index]
                deliveries[index].policy = kinds[name]?.policy ?? .atMostOnce
                deliveries[index].queuedContent =
                    contents.map { $0[delivery.deliveryId] ?? .notWanted } ?? .notBefore(delivery.claimedAt + QueuedKinds.retryInterval)
            }
        }
        return deliveries
    }

    private func contents(of deliveries: [QueuedDelivery], kind name: String) async -> [Int64: QueuedContent]? {
        guard let kind = kinds[name] else {
            logger.error("deliveries of an unknown kind wait: update this instance", metadata: ["kind": "\(name)"])
            return nil
        }
        do {
            return try await kind.contents(of: deliveries)
        } catch {
            logger.warning("deliveries wait: their content cannot be read", metadata: ["kind": "\(name)", "error": "\(error)"])
            return nil
        }
    }

    func apply(_ outcomes: [QueuedOutcome], on connection: BlockingConnection) throws {
        for (name, outcomes) in Dictionary(grouping: outcomes, by: \.delivery.kind).sorted(by: { $0.key < $1.key }) {
            try kinds[name]?.apply(outcomes, on: connection)
        }
    }

    func report(_ outcome: QueuedOutcome) { kinds[outcome.delivery.kind]?.report(outcome) }
}
