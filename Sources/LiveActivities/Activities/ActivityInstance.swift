package import PushContract

/// One start of an activity on a device, without its raw token.
package struct ActivityInstance: Sendable, Hashable {
    package var number: Int
    package var status: ActivityStatus
    package var endReason: EndReason?
    package var tokenHash: TokenHash?
    package var tokenRegisteredAt: Timestamp?
    /// Of the token before.
    package var replacedTokenHash: TokenHash?
    package var startSentAt: Timestamp?
    package var activatedAt: Timestamp?
    package var endedAt: Timestamp?

    /// A post of the token before comes late for so long after it was replaced. After that it says that the device has this token: the one
    /// that replaced it was posted late.
    private static let latePost = Duration.seconds(600)

    func hasHad(_ hash: TokenHash) -> Bool { hash == tokenHash || hash == replacedTokenHash }

    /// Whether a post of this token changes nothing.
    func isUnchanged(by hash: TokenHash, now: Timestamp) -> Bool {
        guard hash == replacedTokenHash, let tokenRegisteredAt else { return hasHad(hash) }
        return now - tokenRegisteredAt < ActivityInstance.latePost
    }
}
