package import PushContract

/// What shares a place in the queue: app × provider × urgency.
package struct SendQueue: Sendable, Hashable {
    package var id: Int32
    package var app: String
    package var provider: Provider
    package var isCritical: Bool

    package init(id: Int32, app: String, provider: Provider, isCritical: Bool) {
        self.id = id
        self.app = app
        self.provider = provider
        self.isCritical = isCritical
    }
}
