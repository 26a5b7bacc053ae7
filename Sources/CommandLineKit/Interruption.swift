import UnixSignals

/// Ctrl-C and SIGTERM, caught from the making of this on: what is being done ends, and can be put in order.
package struct Interruption: Sendable {
    /// The exit code of a command that was interrupted.
    package static let exitCode: Int32 = 130

    private let signals: UnixSignalsSequence

    package init() async { signals = await UnixSignalsSequence(trapping: [.sigint, .sigterm]) }

    /// What `body` brings; nil when a signal came first, or had come before. `body` is then cancelled, and has ended when this returns.
    package func until<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value? {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask { [signals] in
                for await _ in signals { return nil }
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}
