import Postgres
package import PushContract

/// A limit on non-critical sends, for a while.
package struct SendThrottle: Sendable, Hashable {
    /// What `perMinute` may be.
    package static let rates = 0.0...1_000_000.0

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

    /// What it limits, for the audit log: `fcm`, or `fcm com.example.scores`.
    package var subject: String { app.map { "\(provider.rawValue) \($0)" } ?? provider.rawValue }

    /// How far, until when and why, for the audit log.
    package var summary: String {
        let limit = share.map { "a share of \($0)" } ?? "\(Int(perMinute.rounded())) a minute"
        return "\(limit) until \(expiresAt.rfc3339): \(reason)"
    }

    /// True for every app where it has none.
    package func concerns(_ app: String) -> Bool { self.app.map { ExactText($0) == ExactText(app) } ?? true }

    package func applies(to queue: SendQueue) -> Bool {
        !queue.isCritical && queue.provider == provider && concerns(queue.app)
    }
}
