package import Providers
import PushContract

/// How channels are made, counted and given up.
package struct ChannelPolicy: Sendable, Hashable {
    package var mode = ChannelMode.off
    /// Channels an app may have in one environment (Apple, "Setting up broadcast push notifications").
    package var limit = 10_000
    /// So many below the limit none is made: the last ones are for other programs that make channels of the app.
    package var reserve = 100
    /// Starts of a match wait for its channel this long, then begin with tokens.
    var tokenDelay = Duration.seconds(10)
    /// Who made a request and did not come back has lost it after this.
    package var lease = Duration.seconds(60)
    /// How often the provider is asked which channels there are.
    var listEvery = Duration.seconds(600)
    /// An unknown channel may be one that is just being noted down; after this it is not.
    var orphanAge = Duration.seconds(900)
    /// After a refusal that another request would meet as well, no channel of the app is made for this long.
    var refusalPause = Duration.seconds(600)
    /// An end is sent again after each of these, for phones that were away: the channel stores nothing. Then the channel is deleted.
    var endRepeats: [Duration] = [.seconds(60), .seconds(300), .seconds(900)]
    /// A phone that subscribed while a state was sent may have missed it: it is sent once more, no sooner than this.
    package var catchUp = Duration.seconds(2)

    /// Balls come every half minute, and a channel that stores nothing may publish more.
    package static let storage = BroadcastChannel.Storage.none

    package init() {}

    var makesChannels: Bool { mode != .off }
}
