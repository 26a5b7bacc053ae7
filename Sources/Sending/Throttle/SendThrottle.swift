import Devices
import Postgres
package import PushContract

/// A limit on non-critical sends, for a while.
package struct SendThrottle: Sendable, Hashable {
    package var provider: Provider
    /// Nil = every app.
    package var app: String?
    /// Sends a minute, over all instances; never applied below `ThrottleDecision.probesPerMinute`.
    package var perMinute: Double
    /// Asked for as a share of the flow; `perMinute` is then what that was when it was set.
    package var share: Double?
    package var reason: String
    package var author: String
    package var createdAt: Timestamp
    package var expiresAt: Timestamp

    package init(
        provider: Provider,
        app: String?,
        perMinute: Double,
        reason: String,
        author: String,
        createdAt: Timestamp,
        expiresAt: Timestamp,
        share: Double? = nil
    ) {
        self.provider = provider
        self.app = app
        self.perMinute = perMinute
        self.reason = reason
        self.author = author
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.share = share
    }

    package func applies(to lane: Lane) -> Bool {
        !lane.isCritical && lane.provider == provider && (app == nil || app == lane.app)
    }
}
