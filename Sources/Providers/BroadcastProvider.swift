package import PushContract

/// Manages broadcast channels and sends to them: one request reaches every subscribed activity. APNs only. Never throws.
package protocol BroadcastProvider: Sendable {
    /// Creates a channel. An app may have 10,000 in each environment; channels outlive their activities and must be deleted.
    func createChannel(
        _ storage: BroadcastChannel.Storage,
        in scope: BroadcastScope,
        now: Timestamp
    ) async -> ChannelResult<BroadcastChannel>

    /// Deletes a channel, which cannot be undone. A missing one counts as deleted.
    func deleteChannel(_ id: String, in scope: BroadcastScope, now: Timestamp) async -> ChannelResult<Void>

    /// The ids of all channels.
    func listChannels(in scope: BroadcastScope, now: Timestamp) async -> ChannelResult<[String]>

    /// Sends an update or an end to everyone who listens; a start cannot be broadcast. There is no collapse id.
    /// - Parameter attemptId: Identifies the attempt; APNs receives its digest as `apns-request-id`.
    func broadcast(
        _ push: LiveActivityPush,
        to channel: BroadcastChannel,
        in scope: BroadcastScope,
        attemptId: String,
        now: Timestamp
    ) async -> PushOutcome
}

/// A broadcast channel.
package struct BroadcastChannel: Sendable, Hashable {
    /// Assigned by the provider; of no fixed length.
    package var id: String
    package var storage: Storage

    /// Whether the provider stores the newest message for offline devices. Fixed when the channel is created.
    package enum Storage: Int, Sendable, Hashable, CaseIterable {
        /// Nothing is stored; for frequent updates.
        case none = 0
        /// The newest message is stored for at most eight hours; for rare updates.
        case newest = 1
    }

    package init(id: String, storage: Storage) {
        self.id = id
        self.storage = storage
    }
}

/// The app and environment of a channel; channels are not shared between them.
package struct BroadcastScope: Sendable, Hashable {
    /// The bundle id.
    package var app: String
    package var environment: PushEnvironment

    package init(app: String, environment: PushEnvironment) {
        self.app = app
        self.environment = environment
    }
}

package typealias ChannelResult<Value> = Result<Value, ChannelRefusal>

/// Why a channel request failed.
package struct ChannelRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The outcome, with reason code and retry class as for a push.
    package var outcome: PushOutcome

    package init(outcome: PushOutcome) { self.outcome = outcome }

    /// The provider does not know the channel.
    package var isMissing: Bool { ["ChannelNotRegistered", "BadChannelId"].contains(outcome.providerErrorCode) }

    /// The app has reached the maximum number of channels: delete some.
    package var isFull: Bool { outcome.providerErrorCode == "CannotCreateChannelConfig" }

    package var description: String { outcome.detail }
}
