/// When a provider token is renewed. Apple asks for at least 20 and at most 60 minutes between two, and counts the too-frequent ones.
///
/// Two clocks count: that of the time of issue, which APNs compares with its own and which may be set, and one that only goes on.
struct APNsTokenAge: Sendable, Hashable {
    static let renewal = Duration.seconds(45 * 60)
    static let minimum = Duration.seconds(20 * 60)

    /// By the clock that the time of issue is from; negative after it was set back.
    var byIssue: Duration
    var elapsed: Duration

    private var age: Duration { max(byIssue, elapsed) }
    private var isAhead: Bool { byIssue < .seconds(-60) }

    /// Whether the token is still used. One from the future, after a clock was set back, is renewed.
    var isUsable: Bool { !isAhead && age < APNsTokenAge.renewal }

    /// Whether APNs calling the token expired may be answered with a new one. A young token called expired means that a clock is wrong;
    /// another with the same clock would not help.
    var mayReplace: Bool { isAhead || age >= APNsTokenAge.minimum }
}
