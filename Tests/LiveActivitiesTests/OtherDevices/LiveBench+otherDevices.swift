import Delivery
import Providers
import PushContract
import ServiceKit

@testable import LiveActivities

extension LiveBench {
    static func fcmToken(_ number: Int) -> String { "dQw4w9WgXcQ:APA91bExample\(1000 + number)" }

    /// A device that is registered with FCM.
    func fcmDevice(_ userId: String, _ deviceId: String, _ number: Int, platform: Platform = .android) async throws {
        let registration = DeviceRegistration(
            userId: userId,
            deviceId: deviceId,
            token: try PushToken(LiveBench.fcmToken(number), provider: .fcm),
            platform: platform,
            provider: .fcm,
            app: "com.example.app",
            osVersion: nil
        )
        _ = try await devices.register(registration, requestId: "r-\(userId)-\(deviceId)-\(number)", now: now)
    }

    func calls(to token: String) -> [ScriptedAPNs.Call] { apns.calls.filter { $0.token == token } }

    func android(_ number: Int) -> [ScriptedAPNs.Call] { calls(to: LiveBench.fcmToken(number)) }
}

extension ScriptedAPNs.Call {
    /// `data` of an FCM message.
    func data(_ name: String) -> String? { message.data[name]?.string }
}

extension PushOutcome {
    static func fcm(_ status: Int, _ code: String) -> PushOutcome {
        .failed(ReasonMapping.fcm(status: status, errorCode: code), code: code, detail: code, httpStatus: status)
    }
}
