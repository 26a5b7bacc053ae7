import Foundation
import PushContract
import Yams

/// Reads `duty` of `receivers.yml`: lists of receivers that are on duty in turn.
struct DutySettings {
    let yaml: ReceiverYAML
    let receivers: RouteSettings

    func duties(_ node: Node?) throws -> [String: DutyRotation] {
        guard let node else { return [:] }
        guard let mapping = node.mapping else { throw yaml.fault(node, "expected names of duty lists") }
        var duties: [String: DutyRotation] = [:]
        for (key, value) in mapping {
            guard let name = key.string, !name.isEmpty else { throw yaml.fault(key, "expected the name of a duty list") }
            duties[name] = try rotation(value)
        }
        return duties
    }

    private func rotation(_ node: Node) throws -> DutyRotation {
        let keys = try yaml.mapping(node, keys: ["rotation", "start", "zone", "overrides"])
        let name = try yaml.text(keys["zone"], of: "zone", at: node)
        guard name.contains("/") || name == "UTC", let zone = TimeZone(identifier: name) else {
            throw yaml.fault(keys["zone"] ?? node, "zone is an IANA name such as Europe/Berlin")
        }
        let members = try yaml.list(keys["rotation"]).map(receivers.receiver)
        guard !members.isEmpty else { throw yaml.fault(keys["rotation"] ?? node, "a rotation needs receivers") }
        let overrides = try yaml.list(keys["overrides"]).map { node -> DutyRotation.Override in
            let keys = try yaml.mapping(node, keys: ["from", "to", "receiver"])
            guard let member = keys["receiver"] else { throw yaml.fault(node, "'receiver' is missing") }
            let (from, to) = (try moment(keys["from"], "from", node, zone), try moment(keys["to"], "to", node, zone))
            guard from < to else { throw yaml.fault(node, "an override begins before it ends") }
            return DutyRotation.Override(from: from, to: to, receiver: try receivers.receiver(member))
        }
        return DutyRotation(
            receivers: members,
            start: try local(keys["start"], "start", node).seconds,
            zone: zone,
            overrides: overrides
        )
    }

    private func moment(_ node: Node?, _ key: String, _ parent: Node, _ zone: TimeZone) throws -> Timestamp {
        zone.firstMoment(ofLocal: try local(node, key, parent).seconds)
    }

    /// A local time, as if it were UTC.
    private func local(_ node: Node?, _ key: String, _ parent: Node) throws -> Timestamp {
        let text = try yaml.text(node, of: key, at: parent)
        guard text.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d/) != nil,
            let moment = Timestamp(rfc3339: text.replacing(" ", with: "T") + ":00Z")
        else { throw yaml.fault(node ?? parent, "\(key) is a local time such as 2026-01-05 09:00") }
        return moment
    }
}
