import HTTPServer
import HTTPTypes

/// Why a start token is not stored.
enum StartTokenRefusal: Sendable {
    case unknownDevice
    case noDevice
    case ambiguous(Int)
    case notIOS(String)
    case tooOld(String)
    /// The device's ordinary token was sent as the start token.
    case isPushToken
    /// The start token was sent as the device's ordinary token.
    case isStartToken

    var problem: Problem {
        switch self {
        case .unknownDevice:
            notRegistered("You have no device with this deviceId. Register it with POST /devices, then send this again.")
        case .noDevice:
            notRegistered("You have no iOS device. Register it with POST /devices, then send this again.")
        case .ambiguous(let count):
            .conflict("You have \(count) iOS devices. Add \"deviceId\".", code: "device_ambiguous", pointer: "/deviceId")
        case .notIOS(let platform):
            .invalid(
                "Live Activities exist on iOS; this device is registered as \(platform). Do not register a start token there.",
                code: "push_to_start_unsupported",
                pointer: "/deviceId"
            )
        case .tooOld(let version):
            .invalid(
                "Push-to-start needs iOS 17.2; this device has \(version.prefix(20)). Do not register a start token below that; the app can "
                    + "still start Live Activities itself.",
                code: "push_to_start_unsupported",
                pointer: "/osVersion"
            )
        case .isPushToken:
            .invalid(
                "This is the device's pushToken. A start token comes from Activity<…>.pushToStartTokenUpdates and is another one.",
                code: "token_kind_mixed_up",
                pointer: "/pushToStartToken"
            )
        case .isStartToken:
            .invalid(
                "This is the device's push-to-start token. The pushToken comes from didRegisterForRemoteNotifications and is another one.",
                code: "token_kind_mixed_up",
                pointer: "/pushToken"
            )
        }
    }

    private func notRegistered(_ detail: String) -> Problem {
        Problem(status: .notFound, code: "device_not_registered", title: "Not registered", detail: detail)
    }
}
