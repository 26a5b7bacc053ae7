import PushContract

/// A start token of one attributes type on one device, without the raw token. ActivityKit hands out one for each type.
package struct TypedStartToken: Sendable, Hashable {
    var deviceId: String
    /// The name of the `ActivityAttributes` struct.
    package var attributesType: String
    package var token: Device.StartToken
}
