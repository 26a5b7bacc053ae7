/// Why a request was refused, thrown by the check that found it.
struct APNsRefusal: Error, Sendable, Hashable {
    let reason: APNsReason
    /// What to change, for people; Apple sends nothing like it. Goes out as `x-simulator-detail`.
    let detail: String
    /// Since when the token is dead, in milliseconds since 1970; with 410 only.
    var timestamp: Int64?

    init(_ reason: APNsReason, _ detail: String, timestamp: Int64? = nil) {
        self.reason = reason
        self.detail = detail
        self.timestamp = timestamp
    }
}
