import HTTPServer
import HTTPTypes

/// Why a start token is not stored.
enum StartTokenRefusal: Sendable {
    case unknownDevice
    case noDevice
    case ambiguous(Int)
    case notIOS(String)
    case tooOld(String)
    case unknownToken

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
        case .unknownToken:
            Problem(
                status: .notFound,
                code: "token_not_registered",
                title: "Not registered",
                detail:
                    "You have no device with this push token. Unregister a device by its deviceId, or register its token with POST /devices."
            )
        }
    }

    private func notRegistered(_ detail: String) -> Problem {
        Problem(status: .notFound, code: "device_not_registered", title: "Not registered", detail: detail)
    }
}
