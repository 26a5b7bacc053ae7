import Dispatch

/// Parses large bodies one at a time, off the cooperative pool.
///
/// While a body is parsed, its values take many times its bytes, and a core for up to seconds: neither should multiply by the requests that
/// come at once, and other requests need the pool's threads. Safe to use from any task.
package final class LargeBodyQueue: Sendable {
    /// The process's own: one body at a time, whatever its route.
    static let process = LargeBodyQueue()
    /// A body with more bytes is large.
    package static let threshold = 1 << 20

    private let queue = DispatchQueue(label: "pushwatch.bodies")

    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try work() }) }
        }
    }
}
