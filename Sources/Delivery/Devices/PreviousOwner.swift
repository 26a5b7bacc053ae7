import Postgres
import PushContract

/// Who had a token until somebody else registered it.
struct PreviousOwner {
    let userId: String
    let deviceId: String
    /// Encrypted; bound to its kind and hash, not to its owner.
    let startToken: String?
    let startTokenHash: String?
    let startTokenState: String?
    private let hasSamePushToken: Bool

    init(_ row: Row) throws {
        (userId, deviceId, startToken, startTokenHash, startTokenState, hasSamePushToken) =
            try row.decode((String, String, String?, String?, String?, Bool).self)
    }

    /// A deviceId is no secret: only who has the push token as well is on that phone, and gets its start tokens.
    func isSamePhone(as device: Device) -> Bool { hasSamePushToken && deviceId == device.deviceId }

    var hasUsableStartToken: Bool { startTokenState.map { $0 != TokenState.inactive.rawValue } ?? false }
    var removal: DeviceRemoval { DeviceRemoval(userId: userId, deviceId: deviceId, cause: .moved) }
}
