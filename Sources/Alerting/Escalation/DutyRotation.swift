package import Foundation
package import PushContract

/// Who is on duty: receivers that take turns by the week, and exceptions.
package struct DutyRotation: Sendable, Hashable {
    /// Another receiver for a time.
    package struct Override: Sendable, Hashable {
        package var from: Timestamp
        /// Exclusive.
        package var to: Timestamp
        package var receiver: String

        package init(from: Timestamp, to: Timestamp, receiver: String) {
            self.from = from
            self.to = to
            self.receiver = receiver
        }
    }

    /// In turn, a week each. Not empty.
    package var receivers: [String]
    /// The local time at which the first week of the first receiver began, in seconds since 1970 as if it were UTC. Weeks begin at that
    /// weekday and time by the clock of `zone`, in summer time too.
    package var start: Int64
    package var zone: TimeZone
    /// The first that applies counts.
    package var overrides: [Override]

    package init(receivers: [String], start: Int64, zone: TimeZone, overrides: [Override] = []) {
        self.receivers = receivers
        self.start = start
        self.zone = zone
        self.overrides = overrides
    }

    /// All receivers that may be on duty.
    var allReceivers: Set<String> { Set(receivers + overrides.map(\.receiver)) }

    package func receiver(at now: Timestamp) -> String {
        if let override = overrides.first(where: { $0.from <= now && now < $0.to }) { return override.receiver }
        let shown = divide(zone.local(at: now) - start, 7 * 86_400)
        // In the hour that clocks show twice the next week may have begun, and in the hour after one that they skip this one may not have.
        let week = (shown - 1...shown + 1).last { begin(ofWeek: $0) <= now } ?? shown
        return receivers[Int(week - divide(week, Int64(receivers.count)) * Int64(receivers.count))]
    }

    private func begin(ofWeek week: Int64) -> Timestamp { zone.firstMoment(ofLocal: start + week * 7 * 86_400) }

    private func divide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
