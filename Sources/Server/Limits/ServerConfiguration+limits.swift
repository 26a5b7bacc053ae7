import Foundation
import Logging

extension ServerConfiguration {
    /// Reduces the limits of connections to what the process's limit of open files allows, and logs which.
    mutating func apply(_ limits: ProcessLimits, alertReceivers: Int, logger: Logger) throws {
        try limits.checkMemory()
        guard let descriptors = limits.descriptors else { return }
        let budget = try DescriptorBudget(
            self,
            endpoints: try PushProviders.entries(self).map(\.endpointCount).reduce(0, +),
            alertReceivers: alertReceivers,
            limit: descriptors,
            cores: ProcessInfo.processInfo.activeProcessorCount
        )
        var changes: Logger.Metadata = [:]
        func limit(_ connections: Int, _ path: WritableKeyPath<ServerConfiguration, Int>, _ name: String) {
            if connections < self[keyPath: path] { changes[name] = "\(connections) instead of \(self[keyPath: path])" }
            self[keyPath: path] = connections
        }
        limit(budget.httpConnections, \.httpConnections, ConfigurationKey.httpConnections.name)
        limit(budget.databaseConnections, \.databaseConnections, ConfigurationKey.databaseConnections.name)
        limit(budget.providerConnections, \.providersConnections, ConfigurationKey.providersConnections.name)
        limit(budget.receiverConnections, \.receiverConnections, "receivers")
        guard !changes.isEmpty else { return }
        changes["limit"] = "\(descriptors)"
        logger.notice("limits of connections are reduced to fit the limit of open files", metadata: changes)
    }
}
