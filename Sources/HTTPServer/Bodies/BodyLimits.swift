/// How much body a request may have.
package struct BodyLimits: Sendable, Equatable {
    /// Bytes of a body that is sent compressed, as sent.
    package var compressed: Int
    /// Bytes of a body as it is, or after inflating.
    package var inflated: Int
    /// JSON values of a large body. Each takes at most 80 bytes while the body is parsed (an object of one member that is in another).
    package var values: Int
    /// From the moment reading begins to the last byte, however steadily the body drips.
    package var deadline: Duration

    package init(compressed: Int = 4 << 20, inflated: Int = 16 << 20, values: Int = 2_000_000, deadline: Duration = .seconds(30)) {
        self.compressed = compressed
        self.inflated = inflated
        self.values = values
        self.deadline = deadline
    }
}
