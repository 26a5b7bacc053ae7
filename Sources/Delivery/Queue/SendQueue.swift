package import PushContract

/// What shares a place in the queue: app × provider × environment × class.
package struct SendQueue: Sendable, Hashable {
    package var id: Int32
    @ExactText package var app: String
    package var provider: Provider
    package var environment: PushEnvironment
    package var deliveryClass: DeliveryClass

    package init(id: Int32, app: String, provider: Provider, environment: PushEnvironment = .production, deliveryClass: DeliveryClass) {
        self.id = id
        self.app = app
        self.provider = provider
        self.environment = environment
        self.deliveryClass = deliveryClass
    }

    package var isCritical: Bool { deliveryClass == .critical }

    var scope: PushScope { PushScope(provider: provider, app: app, environment: environment, platform: .ios) }
}
