package import PushContract

/// What a registration means that names neither: "The app sends pushToken, deviceId, osVersion, and appVersion" (seed 000). Known where one
/// app of one platform is configured; nil elsewhere.
package struct DeviceDefaults: Sendable, Hashable {
    package var platform: Platform?
    package var app: String?

    package init(platform: Platform? = nil, app: String? = nil) {
        self.platform = platform
        self.app = app
    }
}
