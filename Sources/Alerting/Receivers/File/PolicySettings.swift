import AlertRules
import Foundation
import Yams

/// What a receiver has beside its kind: `per_minute`, `repeat`, `quiet`.
struct PolicySettings {
    static let keys = ["per_minute", "repeat", "quiet"]

    let yaml: ReceiverYAML

    func policy(_ keys: [String: Node], kind: String, at node: Node) throws -> ReceiverPolicy {
        var policy = ReceiverPolicy()
        if let limit = keys["per_minute"] {
            guard let count = limit.scalar.flatMap({ Int($0.string) }), (1...6000).contains(count) else {
                throw yaml.fault(limit, "per_minute is a number from 1 to 6000")
            }
            policy.perMinute = count
        }
        if let again = keys["repeat"] {
            guard let duration = again.scalar.flatMap({ RuleDuration($0.string) }), (15...10_080).contains(duration.minutes) else {
                throw yaml.fault(again, "repeat is a duration from 15m to 7d, such as 4h")
            }
            guard !["pagerduty", "alertmanager"].contains(kind) else { throw yaml.fault(again, "repeating is \(kind)'s own job") }
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
}
