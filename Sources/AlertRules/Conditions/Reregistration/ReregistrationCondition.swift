/// `reregistration/1`: of the devices whose token was no longer registered, far fewer than usual come back with a new one.
///
/// Most of such devices have deleted the app and never return, so the share is compared with that of the days before. Its minutes are
/// cohorts, one an hour: `attempts` counts devices, `bad` those that did not register within a day.
package struct ReregistrationCondition: Sendable, Hashable {
    package var of = AttemptFilter([:])
    /// Fires when fewer return than this part of what is usual.
    package var below: Fraction
    /// The cohorts that are pooled.
    package var window = RuleDuration(minutes: 1440)
    var minDevices: Int64 = 100
    /// Training days before the window: the median of their shares is usual.
    package var reference = RuleDuration(minutes: 7 * 1440)
    var minDevicesPerDay: Int64 = 50
    var minDays = 3
    /// P(Poisson(expected) ≤ returned) must be below this.
    package var alpha = Fraction(1, 1000)
    /// Resolves when at least this part of what is usual returns again.
    package var resolveAt = Fraction(3, 4)
    package var resolveAfter = RuleDuration(minutes: 360)

    package init(below: Fraction) { self.below = below }
}
