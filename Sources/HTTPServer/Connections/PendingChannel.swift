import HummingbirdCore
package import NIOCore
import Synchronization

/// A channel until the task that serves it takes it.
///
/// NIO ends the process when a `NIOAsyncChannel` is dropped without `executeThenClose`. The sequences that hand channels to tasks drop
/// those that nobody takes: a connection that is accepted while the server stops, a stream whose connection ends. This closes them instead.
package final class PendingChannel<Inbound: Sendable, Outbound: Sendable>: ServerChildChannelValue {
    private let pending: NIOAsyncChannel<Inbound, Outbound>
    private let isTaken = Atomic(false)

    package var channel: any Channel { pending.channel }

    package init(_ channel: NIOAsyncChannel<Inbound, Outbound>) {
        pending = channel
    }

    deinit {
        guard !isTaken.load(ordering: .acquiring) else { return }
        Task { [pending] in try? await pending.executeThenClose { _, _ in } }
    }

    /// The channel, for a caller that runs `executeThenClose` in any case.
    package func take() -> NIOAsyncChannel<Inbound, Outbound> {
        isTaken.store(true, ordering: .releasing)
        return pending
    }
}
