/// A message that a provider would refuse.
package struct PushError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The invalid member of the send, such as `apns/aps/event`.
    package var field: String
    /// The provider's code for this fault.
    package var code: String
    /// What is wrong and what to change.
    package var message: String

    package init(field: String, code: String, _ message: String) {
        self.field = field
        self.code = code
        self.message = message
    }

    package var description: String { field.isEmpty ? message : "\(field): \(message)" }
}
