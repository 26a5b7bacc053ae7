import PushClient

/// What the person who holds a simulated phone does, and what its system allows. Apple publishes no numbers for budgets: these are guesses
/// that can be set.
struct PhoneBehaviour: Sendable, Hashable {
    /// The answer to the notification prompt.
    var permission = PushPermission.authorized
    /// Live Activities are allowed in the settings.
    var allowsActivities = true
    /// How long until the person taps Allow on an activity that a push started; nil: never. Until then there is no update token.
    var tapsAllowAfter: Duration? = .seconds(5)
    /// How many activities pushes may start within the budget's hour; further ones are accepted by APNs and never appear.
    var startBudget = 10
    /// The person swipes an activity away after so long; nil: never.
    var dismissesAfter: Duration?
    /// What the system ends by itself.
    var activityLifetime = Duration.seconds(8 * 3600)
}
