import Foundation

/// Names as a part of an address.
enum PathText {
    /// Names may contain anything but control characters, so every byte that is not plain goes percent-encoded.
    static func encoded(_ name: String) -> String { name.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }

    private static let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
}
