package import PushContract

/// One start of an activity on a device, without its raw token.
package struct ActivityInstance: Sendable, Hashable {
    package var number: Int
    package var status: ActivityStatus
    package var endReason: EndReason?
    package var tokenHash: TokenHash?
    /// Of the token before: what is posted of it comes late.
    package var replacedTokenHash: TokenHash?
    package var startSentAt: Timestamp?
    package var activatedAt: Timestamp?
    package var endedAt: Timestamp?

    func knows(_ hash: TokenHash) -> Bool { hash == tokenHash || hash == replacedTokenHash }
}
