import Foundation

/// Names as a part of an address.
package enum PathText {
    /// Names may contain anything but control characters, so every byte that RFC 3986 does not call unreserved is percent-encoded.
    package static func encoded(_ name: String) -> String { name.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }

    private static let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
}
