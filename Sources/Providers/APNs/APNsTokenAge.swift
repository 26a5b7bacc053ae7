import PushContract

/// When a provider token is renewed. Apple asks for at least 20 and at most 60 minutes between two, and counts the too-frequent ones.
enum APNsTokenAge {
    static let renewal = Duration.seconds(45 * 60)
    static let minimum = Duration.seconds(20 * 60)

    /// Whether a token issued at that time is still used. One from the future, after a clock was set back, is renewed.
    static func isUsable(issuedAt: Timestamp, now: Timestamp) -> Bool {
        let age = now - issuedAt
        return age >= .seconds(-60) && age < renewal
    }

    /// Whether APNs calling a token expired may be answered with a new one. A young token called expired means that a clock is wrong;
    /// another with the same clock would not help.
    static func mayReplace(issuedAt: Timestamp, now: Timestamp) -> Bool {
        let age = now - issuedAt
        return age >= minimum || age < .seconds(-60)
    }
}
