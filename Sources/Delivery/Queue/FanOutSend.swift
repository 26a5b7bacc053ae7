import PushContract

/// What the deliveries of a send to many people have in common.
struct FanOutSend {
    var sendId: String
    var kinds: [PayloadKind]
    var deliveryClass: DeliveryClass
    var collapseId: String?
    var version: Int64?
    /// Of a send that is stored in portions: its place among those with its `collapseId`.
    var acceptedAs: Int64?
    /// It may not be due yet.
    var mayBeLater: Bool
    var expiresAt: Timestamp
}

extension FanOutSend {
    init(_ request: SendRequest, to kinds: [PayloadKind], as deliveryClass: DeliveryClass) {
        self.init(
            sendId: request.sendId,
            kinds: kinds,
            deliveryClass: deliveryClass,
            collapseId: request.content.collapseId,
            version: request.version,
            mayBeLater: request.notBefore != nil,
            expiresAt: request.expiresAt
        )
    }
}
