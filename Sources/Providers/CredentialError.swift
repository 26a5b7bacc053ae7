/// A credential that cannot work, found before anything is sent. Says what is wrong and where to get the right one; never holds the key.
package struct CredentialError: Error, Sendable, Hashable, CustomStringConvertible {
    package var message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
