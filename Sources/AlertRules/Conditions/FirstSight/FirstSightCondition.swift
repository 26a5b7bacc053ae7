/// `first-sight/1`: a provider answers with a code that is in no table and was not seen for a long time.
///
/// Its groups are provider and code; a minute of theirs is the first of a day in which the code was seen.
package struct FirstSightCondition: Sendable, Hashable {
    package static let by: [Dimension] = [.provider, .providerErrorCode]

    package var of = AttemptFilter()
    /// Whole days without the code that make it new.
    package var notSeenFor = RuleDuration(minutes: 14 * 1440)
    /// Codes that are in no table on purpose.
    package var ignore: [String] = []
    /// The learning period: before it ends, every code would be new.
    package var learn = RuleDuration(minutes: 1440)
    /// How long the alert fires: there is no recovery from a new code.
    package var resolveAfter = RuleDuration(minutes: 1440)

    package init() {}
}
