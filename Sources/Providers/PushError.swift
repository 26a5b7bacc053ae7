/// A message a provider would refuse.
package struct PushError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The member of the send at fault, `apns/aps/event` for inner ones.
    package var field: String
    /// The code the provider would have answered.
    package var code: String
    /// What is wrong and what to change, as one sentence.
    package var message: String

    package init(field: String, code: String, _ message: String) {
        self.field = field
        self.code = code
        self.message = message
    }

    package var description: String { field.isEmpty ? message : "\(field): \(message)" }
}
