import Postgres

/// Whose devices a call may concern.
package enum DeviceOwner: Sendable {
    case user(String)
    /// Who has the secret of one device's registration.
    case secret(hash: [UInt8])

    /// On the devices `d`.
    var condition: Query {
        switch self {
        case .user(let userId): "d.userId = \(userId)"
        case .secret(let hash): "\(hash) = ANY(d.unregisterSecrets)"
        }
    }
}
