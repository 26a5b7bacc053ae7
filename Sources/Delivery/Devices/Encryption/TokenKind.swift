/// Where an encrypted token belongs. It is decrypted nowhere else, so that a value copied from one column to another is refused.
package enum TokenKind: String, Sendable, Hashable, CaseIterable {
    /// `devices.pushToken`.
    case push
    /// `devices.pushToStartToken`.
    case pushToStart
    /// `liveActivities.updateToken`.
    case update
    /// `pushDeliveries.pushToken`: a send addressed to a token.
    case delivery
}
