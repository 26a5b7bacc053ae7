/// What happens when a try's outcome is unknown: written to the provider, and never answered.
package enum DeliveryPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Sent again; the device may get it twice.
    case atLeastOnce = "at_least_once"
    /// Recorded as unknown and not sent again; the device may not get it.
    case atMostOnce = "at_most_once"
}
