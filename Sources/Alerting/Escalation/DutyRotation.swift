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
    /// The local time at which the first week of the first receiver began, in seconds since 1970 as if it were UTC. Weeks begin at that weekday
    /// and time by the clock of `zone`, through summer time.
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

    /// Everybody who may be on duty.
    var allReceivers: Set<String> { Set(receivers + overrides.map(\.receiver)) }

    package func receiver(at now: Timestamp) -> String {
        if let override = overrides.first(where: { $0.from <= now && now < $0.to }) { return override.receiver }
        let local = now.seconds + Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(now.seconds))))
        let week = Int(((local - start) - remainder(local - start, 7 * 86_400)) / (7 * 86_400))
        return receivers[Int(remainder(Int64(week), Int64(receivers.count)))]
    }

    private func remainder(_ value: Int64, _ divisor: Int64) -> Int64 { ((value % divisor) + divisor) % divisor }
}
