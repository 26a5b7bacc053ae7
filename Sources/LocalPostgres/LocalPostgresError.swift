/// Why the private PostgreSQL could not be used. The message says what to change.
package struct LocalPostgresError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was; for tests and exit codes.
    package enum Kind: Sendable {
        case notInstalled
        case notOwned
        case notReachable
        case inUse
        case wrongOwner
        case commandFailed
        case didNotStart
    }

    package let kind: Kind
    package let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }
}
