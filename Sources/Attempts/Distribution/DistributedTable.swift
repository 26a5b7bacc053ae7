/// The tables that are spread where there are several servers, in the order in which they are. All others stay on the coordinator: Citus
/// rejects some of their statements once they are distributed.
package enum DistributedTable: String, Sendable, CaseIterable, CustomStringConvertible {
    /// On each node, since each batch reads it.
    case state = "ledgerState"
    case ledger = "attemptLedger"
    case attempts = "notificationDeliveryAttempts"

    package var description: String { rawValue }

    var isReference: Bool { self == .state }

    /// Bytes of a row without its indexes, to estimate how many there are.
    var bytesPerRow: Int {
        switch self {
        case .state: 8192
        case .ledger: 84
        case .attempts: 256
        }
    }
}
