/// A control request that says something the simulator does not understand; answered with 400 and this text.
struct ControlError: Error, Sendable, Hashable {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
