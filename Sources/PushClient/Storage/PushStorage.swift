/// Stores the client's state between launches. The state contains no token.
public protocol PushStorage: Sendable {
    /// The state saved last; nil if there is none. Throws if there may be one that cannot be read now, as before the first unlock of the
    /// device: the client then saves nothing, and loads it again later.
    func load() throws -> [UInt8]?
    /// Saves the whole state atomically: the next `load` returns it or the previous one.
    func save(_ bytes: [UInt8]) throws
}

/// Stores unregister secrets, in an app in the keychain: accessible after the first unlock (`kSecAttrAccessibleAfterFirstUnlock`), as the
/// system launches apps on locked devices, too.
public protocol SecretStorage: Sendable {
    /// The secret of this user's registration here.
    func secret(of uid: String) -> String?
    /// Stores it; nil deletes it. Throws if it cannot be stored: the device is then unregistered with the session alone.
    func setSecret(_ secret: String?, of uid: String) throws
}
