/// Why one item cannot be an attempt: a stable code, the field, and a sentence that says what to change.
package struct AttemptFault: Error, Sendable, Equatable {
    package var code: String
    /// The JSON key the fault is about; empty when it is the item as a whole.
    package var field: String
    package var detail: String

    init(_ code: String, field: String, _ detail: String) {
        self.code = code
        self.field = field
        self.detail = detail
    }

    init(_ code: String, _ column: AttemptColumn, _ detail: String) {
        self.init(code, field: "\(column.name)", detail)
    }
}
