package import PushContract

/// One start of an activity on a device, without its raw token.
package struct ActivityInstance: Sendable, Hashable {
    package var number: Int
    package var status: ActivityStatus
    package var endReason: EndReason?
    package var tokenHash: TokenHash?
    package var startSentAt: Timestamp?
    package var activatedAt: Timestamp?
    package var endedAt: Timestamp?

    package init(
        number: Int,
        status: ActivityStatus,
        endReason: EndReason? = nil,
        tokenHash: TokenHash? = nil,
        startSentAt: Timestamp? = nil,
        activatedAt: Timestamp? = nil,
        endedAt: Timestamp? = nil
    ) {
        self.number = number
        self.status = status
        self.endReason = endReason
        self.tokenHash = tokenHash
        self.startSentAt = startSentAt
        self.activatedAt = activatedAt
        self.endedAt = endedAt
    }
}
