import PushContract

/// What a device without Live Activities was sent of a subject. Pure: derived from what is stored.
struct PushStatus: Sendable, Hashable {
    /// The newest delivery to the device.
    struct Delivery: Sendable, Hashable, Encodable {
        var sendId: String
        /// As of the deliveries of a send: queued, scheduled, blocked, sending, sent, superseded, failed, expired, unreachable, cancelled.
        var state: String
        var at: Timestamp
        var finishedAt: Timestamp?
        var reasonCode: String?
        var providerErrorCode: String?
    }

    /// Nil: none in the time that sends are kept.
    var newest: Delivery?
    /// The latest state that the provider took, and when; whether it was the end.
    var sentTimestamp: Int64?
    var sentAt: Timestamp?
    var sentEnd = false
    /// Whether the device has a push token that is not inactive.
    var hasToken: Bool

    /// What a device shows that gets Live Updates, as far as the server can know.
    func shows(timestamp: Int64, isLive: Bool) -> (SubjectStatus.Shows, SubjectStatus.Reason?) {
        if sentEnd { return (.last, nil) }
        guard let sentTimestamp else { return (.nothing, isLive ? missing : .subjectNotLive) }
        return sentTimestamp >= timestamp ? (.newest, nil) : (.older, missing)
    }

    /// Why a device got nothing, or no newer state.
    var missing: SubjectStatus.Reason { hasToken ? .updateWaiting : .noPushToken }
}
