/// Whether states of matches are sent through broadcast channels (iOS 18) in addition to update tokens.
package enum ChannelMode: String, Sendable, Hashable, CaseIterable {
    /// No channel is made. Those that there are, are served to their end.
    case off
    /// Every channel of the apps is this service's: one it does not know is a leftover, and deleted.
    case own
    /// Others make channels for the same apps, too: one it does not know is counted and left alone.
    case shared
}
