package import PushContract

/// Keeps broadcast channels and sends to them: one request reaches every activity that listens. APNs only. Never throws.
package protocol BroadcastProvider: Sendable {
    /// Makes a channel. There may be 10,000 of an app in each environment; channels outlive their activities, so delete them.
    func createChannel(
        _ storage: BroadcastChannel.Storage,
        in scope: BroadcastScope,
        now: Timestamp
    ) async -> ChannelResult<BroadcastChannel>

    /// What the provider knows about a channel.
    func readChannel(_ id: String, in scope: BroadcastScope, now: Timestamp) async -> ChannelResult<BroadcastChannel>

    /// Deletes a channel, which cannot be undone. One that is not there any more counts as deleted.
    func deleteChannel(_ id: String, in scope: BroadcastScope, now: Timestamp) async -> ChannelResult<Void>

    /// The ids of all channels.
    func listChannels(in scope: BroadcastScope, now: Timestamp) async -> ChannelResult<[String]>

    /// Sends an update or an end to everyone who listens; a start cannot be broadcast. There is no collapse id.
    /// - Parameter attemptId: names the try; APNs shows its digest as `apns-request-id`.
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
    /// Given by the provider; of no fixed length.
    package var id: String
    package var storage: Storage

    /// Whether the provider keeps the newest message for devices that are offline. Fixed when the channel is made.
    package enum Storage: Int, Sendable, Hashable, CaseIterable {
        /// Nothing is kept; for frequent updates.
        case none = 0
        /// The newest message is kept for eight hours at most; for rare updates.
        case newest = 1
    }

    package init(id: String, storage: Storage) {
        self.id = id
        self.storage = storage
    }
}

/// Where channels live: they are not shared between apps or environments.
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

/// Why a channel request came to nothing.
package struct ChannelRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Reason, retry class and what else a push's outcome has.
    package var outcome: PushOutcome

    package init(outcome: PushOutcome) { self.outcome = outcome }

    /// The provider does not know the channel.
    package var isMissing: Bool { ["ChannelNotRegistered", "BadChannelId"].contains(outcome.providerErrorCode) }

    /// The app has as many channels as it may have: delete some.
    package var isFull: Bool { outcome.providerErrorCode == "CannotCreateChannelConfig" }

    package var description: String { outcome.detail }
}
