/// How often, and when, an activity may be started on a device.
package struct StartPolicy: Sendable, Hashable {
    /// A device's own budget is small, unpublished, and nothing raises it: these are ours, kept well below.
    package var perHour = 3
    package var perDay = 6
    /// An accepted start whose token has not come back yet most likely waits for the person's Allow: no failure.
    package var grace = Duration.seconds(600)
    /// Starts of one instance that may have reached the device: one more than the first would stack cards.
    var deliveredLimit = 2
    /// Between an activity that a dead token ended and the next: after the second, third and fourth in a day; then no more.
    package var backOff: [Duration] = [.seconds(120), .seconds(600), .seconds(1800)]
    /// The next instance is started this long after the last was activated: before the system's eight hours.
    var rollOverAfter = Duration.seconds(27_000)
    /// Starts put into the send queue per second, whatever the number of followers.
    package var perSecond = 300.0

    package init() {}
}
