/// An invalid credential, found before anything is sent. States what is wrong and where to get a valid one; never contains the key.
package struct CredentialError: Error, Sendable, Hashable, CustomStringConvertible {
    package var message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
