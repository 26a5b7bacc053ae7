package import PushContract

/// Checks whether a provider would accept a message, as far as that is known before sending.
///
/// For use when a send is accepted: a fault found here is an error for the caller; found by the provider it is a failed attempt, and at
/// Apple it lowers the rate that a connection is allowed.
package enum PushValidation {
    /// - Parameter app: The bundle id, or the FCM app.
    /// - Returns: the message as it can be sent to any number of devices; for APNs its payload is encoded.
    @discardableResult
    package static func validate(_ message: PushMessage, for provider: Provider, app: String) throws(PushError) -> PushMessage {
        var message = message
        message.payload = try (rules[provider] ?? common)(message, app)
        return message
    }

    private typealias Check = @Sendable (PushMessage, String) throws(PushError) -> EncodedPayload?

    /// The rules of a provider; one that is not listed is checked for what all have in common.
    private static let rules: [Provider: Check] = [
        .apns: { (message, app) throws(PushError) in try APNsRules.encode(message, app: app) },
        .fcm: { (message, _) throws(PushError) in
            try FCMRules.check(message)
            return message.payload
        },
    ]

    private static let common: Check = { (message, _) throws(PushError) in
        try checkCollapseId(message)
        return message.payload
    }

    /// Visible ASCII and spaces only, as allowed in a header.
    static func isHeaderText(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    static func checkCollapseId(_ message: PushMessage, code: String = "BadCollapseId") throws(PushError) {
        guard let id = message.collapseId else { return }
        // A header's value neither begins nor ends with a space (RFC 9113, 8.2.1).
        guard !id.isEmpty, id.utf8.count <= 64, isHeaderText(id), id.first != " ", id.last != " " else {
            throw PushError(
                field: "collapseId",
                code: code,
                "\"collapseId\" must have 1 to 64 bytes of visible ASCII, and spaces between them alone; it has \(id.utf8.count) bytes."
            )
        }
    }
}
