import Foundation

/// Where a person's page is.
enum PersonPath {
    /// A uid may hold anything but control characters, so every byte that is not plain goes percent-encoded.
    static func path(uid: String) -> String {
        "/people/" + (uid.addingPercentEncoding(withAllowedCharacters: plain) ?? "")
    }

    private static let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
}
