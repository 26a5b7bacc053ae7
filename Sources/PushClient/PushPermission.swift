/// What the user has decided about notifications, as the operating system reports it.
public enum PushPermission: String, Sendable, Hashable, Codable, CaseIterable {
    case notDetermined
    case denied
    case provisional
    case authorized

    /// A device registers with provisional permission too (seed 002: "authorized or provisional").
    public var allowsRegistration: Bool { self == .authorized || self == .provisional }
}
