/// A message a provider would refuse.
package struct PushFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The member of the send at fault, `apns/aps/event` for inner ones.
    package var field: String
    /// The code the provider would have answered.
    package var code: String
    /// What is wrong and what to change, as one sentence.
    package var sentence: String

    package init(field: String, code: String, _ sentence: String) {
        self.field = field
        self.code = code
        self.sentence = sentence
    }

    package var description: String { field.isEmpty ? sentence : "\(field): \(sentence)" }
}
