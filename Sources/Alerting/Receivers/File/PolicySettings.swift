import AlertRules
import Foundation
import Yams

/// Reads what every kind of receiver has: `per_minute`, `repeat`, `quiet`, `group_wait`, `group_interval`.
struct PolicySettings {
    static let keys = ["per_minute", "repeat", "quiet", "group_wait", "group_interval"]

    let yaml: ReceiverYAML

    func policy(_ keys: [String: Node], kind: String, receiver: any AlertReceiver) throws -> ReceiverPolicy {
        var policy = ReceiverPolicy(grouping: try grouping(keys, supportsGrouping: receiver.supportsGrouping))
        if let limit = keys["per_minute"] {
            guard let count = limit.scalar.flatMap({ Int($0.string) }), (1...6000).contains(count) else {
                throw yaml.fault(limit, "per_minute must be a number from 1 to 6000")
            }
            policy.perMinute = count
        }
        if let again = keys["repeat"] {
            guard let duration = again.scalar.flatMap({ RuleDuration($0.string) }), (15...10_080).contains(duration.minutes) else {
                throw yaml.fault(again, "repeat is a duration from 15m to 7d, such as 4h")
            }
            guard !receiver.repeatsItself else { throw yaml.fault(again, "\(kind) repeats by itself; remove repeat") }
            policy.repeatAfter = duration
        }
        if let quiet = keys["quiet"] {
            let parts = try yaml.mapping(quiet, keys: ["hours", "zone"])
            let name = try yaml.text(parts["zone"], of: "quiet.zone", at: quiet)
            guard name.contains("/") || name == "UTC", let zone = TimeZone(identifier: name) else {
                throw yaml.fault(parts["zone"] ?? quiet, "quiet.zone is an IANA name such as Europe/Berlin")
            }
            guard let hours = QuietHours(try yaml.text(parts["hours"], of: "quiet.hours", at: quiet), zone: zone) else {
                throw yaml.fault(parts["hours"] ?? quiet, "quiet.hours is a span such as 22:00-07:00")
            }
            policy.quiet = hours
        }
        return policy
    }

    private func grouping(_ keys: [String: Node], supportsGrouping: Bool) throws -> NotificationGrouping? {
        let given = [keys["group_wait"], keys["group_interval"]].compactMap { $0 }
        if let first = given.first, !supportsGrouping {
            throw yaml.fault(
                first,
                "this receiver gets one notification for each alert; remove group_wait and group_interval"
            )
        }
        guard supportsGrouping else { return nil }
        // YAML reads a bare `off` as false; its text is the same.
        if keys["group_wait"]?.scalar?.string == "off" {
            if let interval = keys["group_interval"] { throw yaml.fault(interval, "without group_wait there is no group_interval") }
            return nil
        }
        func duration(_ key: String, _ standard: RuleDuration, _ range: ClosedRange<Int>, _ text: String) throws -> RuleDuration {
            guard let node = keys[key] else { return standard }
            guard let duration = node.scalar.flatMap({ RuleDuration($0.string) }), range.contains(duration.minutes) else {
                throw yaml.fault(node, "\(key) is \(text)")
            }
            return duration
        }
        let standard = NotificationGrouping()
        return NotificationGrouping(
            wait: try duration("group_wait", standard.wait, 1...60, "a duration from 1m to 1h, or off"),
            interval: try duration("group_interval", standard.interval, 1...1440, "a duration from 1m to 1d")
        )
    }
}
