import ServiceKit

/// A complete APNs payload, as the bytes to send. Checked when it is created, so that the same bytes can be sent to any number of devices
/// without another check.
package struct EncodedPayload: Sendable, Hashable {
    package let bytes: [UInt8]
    package let pushType: APNsPushType

    /// Checks JSON text for use as a payload.
    package init(_ bytes: [UInt8], pushType: APNsPushType) throws(PushError) {
        guard let json = try? JSONParser.read(bytes), let aps = json["aps"]?.members else {
            throw PushError(field: "payload", code: "PayloadEmpty", "The payload must be a JSON object with an object \"aps\".")
        }
        try APNsRules.checkSize(bytes.count, of: pushType)
        try APNsContentRules.check(aps, as: pushType)
        self.init(checked: bytes, pushType: pushType)
    }

    init(checked bytes: [UInt8], pushType: APNsPushType) {
        self.bytes = bytes
        self.pushType = pushType
    }
}
