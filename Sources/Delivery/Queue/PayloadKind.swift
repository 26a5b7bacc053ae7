import PushContract

/// What a payload's rules and a delivery's queue depend on.
struct PayloadKind: Hashable {
    var provider: Provider
    var platform: Platform
    var environment: PushEnvironment
    var app: String

    var order: (String, String, String, String) { (provider.rawValue, platform.rawValue, environment.rawValue, app) }

    func queue(_ deliveryClass: DeliveryClass) -> SendQueueRegistry.Key {
        SendQueueRegistry.Key(app: app, provider: provider, environment: environment, deliveryClass: deliveryClass)
    }
}

extension PayloadKind {
    init(_ delivery: NewDelivery) {
        self.init(provider: delivery.provider, platform: delivery.platform, environment: delivery.environment, app: delivery.app)
    }
}
