/// What is known about a device's token.
package enum TokenState: String, Sendable, Hashable, Codable {
    /// Sends go to it.
    case active
    /// A provider refused it for a reason that may be our own configuration's fault. It rests for an hour, then a second such refusal
    /// switches it off and a success clears it.
    case suspect
    /// Dead, or moved to another device. Only a new registration reactivates it.
    case inactive
}
