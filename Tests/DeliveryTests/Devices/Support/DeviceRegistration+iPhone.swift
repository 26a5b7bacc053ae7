import Delivery
import PushContract

extension DeviceRegistration {
    /// Of an iPhone, with an APNs token.
    static func iPhone(
        _ userId: String,
        _ deviceId: String,
        token: String,
        app: String = "com.example.app",
        osVersion: String? = nil,
        appVersion: String? = nil,
        locale: String? = nil
    ) throws -> DeviceRegistration {
        DeviceRegistration(
            userId: userId,
            deviceId: deviceId,
            token: try PushToken(token, provider: .apns),
            platform: .ios,
            provider: .apns,
            app: app,
            osVersion: osVersion,
            appVersion: appVersion,
            locale: locale
        )
    }
}
