import Delivery
import PushContract

extension DeviceDefaults {
    /// Of credentials that all serve one app; APNs serves one platform, FCM several.
    init(_ entries: [CredentialEntry]) {
        self.init()
        guard entries.allSatisfy({ $0.apps.count == 1 }), Set(entries.flatMap(\.apps)).count == 1 else { return }
        guard Set(entries.map(\.provider)) == [.apns] else { return }
        platform = .ios
        app = entries.first?.apps.first
    }
}
