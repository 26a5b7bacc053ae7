/// How long somebody stays signed in.
package struct SessionLimits: Sendable, Equatable {
    /// Since the sign-in, whatever is done.
    package var lifetime: Duration
    /// Since the last request. A page in an open tab refreshes itself, which counts.
    package var idle: Duration

    package init(lifetime: Duration = .seconds(12 * 3_600), idle: Duration = .seconds(2 * 3_600)) {
        self.lifetime = lifetime
        self.idle = idle
    }
}
