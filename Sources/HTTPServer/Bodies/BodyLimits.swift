/// How much body a request may have.
package struct BodyLimits: Sendable, Equatable {
    /// Bytes of a body that is sent compressed, as sent.
    package var compressed: Int
    /// Bytes of a body as it is, or after inflating.
    package var inflated: Int
    /// From the moment reading begins to the last byte, however steadily the body drips.
    package var deadline: Duration

    package init(compressed: Int = 4 << 20, inflated: Int = 16 << 20, deadline: Duration = .seconds(30)) {
        self.compressed = compressed
        self.inflated = inflated
        self.deadline = deadline
    }
}
