import PushContract

/// What a payload's rules, the credential and a delivery's queue depend on.
package struct PayloadKind: Sendable, Hashable {
    var provider: Provider
    var platform: Platform
    var environment: PushEnvironment
    @ExactText var app: String

    var order: (String, String, String, String) { (provider.rawValue, platform.rawValue, environment.rawValue, app) }

    func queue(_ deliveryClass: DeliveryClass) -> SendQueueRegistry.Key {
        SendQueueRegistry.Key(app: app, provider: provider, environment: environment, deliveryClass: deliveryClass)
    }
}

extension PayloadKind {
    /// As it is stored.
    init(_ provider: String, _ platform: String, _ environment: String, _ app: String) throws {
        self.init(provider: try stored(provider), platform: try stored(platform), environment: try stored(environment), app: app)
    }

    init(_ delivery: NewDelivery) {
        self.init(provider: delivery.provider, platform: delivery.platform, environment: delivery.environment, app: delivery.app)
    }
}

/// The kinds of a send's devices. Arrays: nearly every send has one.
extension PayloadKind {
    typealias Count = (kind: PayloadKind, devices: Int)

    /// A kind that a send may go to, and what is sent to it if that is the same for all of it.
    typealias Allowed = (kind: PayloadKind, devices: Int, content: DeliveryContent?)

    static func counts(of deliveries: [NewDelivery]) -> [Count] {
        var counts: [Count] = []
        // Most are of the kind of the one before.
        var last = 0
        for delivery in deliveries {
            let kind = PayloadKind(delivery)
            if !(counts.indices.contains(last) && counts[last].kind == kind) {
                last = counts.firstIndex { $0.kind == kind } ?? counts.count
                if last == counts.count { counts.append((kind, 0)) }
            }
            counts[last].devices += 1
        }
        return counts
    }
}
