package import PushContract

/// A delivery that ended without success, and why.
package struct DeadLetter: Sendable, Encodable {
    package var sendId: String
    package var uid: String
    package var deviceId: String?
    package var provider: Provider
    package var app: String
    package var outcome: DeadOutcome
    package var reasonCode: ReasonCode?
    package var providerErrorCode: String?
    package var attempts: Int
    package var finishedAt: Timestamp
}

/// Which dead letters; what is nil does not matter.
package struct DeadLetterFilter: Sendable, Hashable {
    package var sendId: String?
    package var outcome: DeadOutcome?
    package var reasonCode: ReasonCode?
    package var providerErrorCode: String?
    package var provider: Provider?
    package var app: String?
    package var since: Timestamp
    package var until: Timestamp

    package init(
        sendId: String? = nil,
        outcome: DeadOutcome? = nil,
        reasonCode: ReasonCode? = nil,
        providerErrorCode: String? = nil,
        provider: Provider? = nil,
        app: String? = nil,
        since: Timestamp,
        until: Timestamp
    ) {
        self.sendId = sendId
        self.outcome = outcome
        self.reasonCode = reasonCode
        self.providerErrorCode = providerErrorCode
        self.provider = provider
        self.app = app
        self.since = since
        self.until = until
    }
}
