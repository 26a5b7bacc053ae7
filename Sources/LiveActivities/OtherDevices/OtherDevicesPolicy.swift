import ServiceKit

/// What subjects of a type send to followers' devices that show no Live Activities: `otherDevices` of the type's file.
package struct OtherDevicesPolicy: Sendable, Hashable {
    /// Android devices.
    package enum Android: String, Sendable, Hashable, CaseIterable {
        /// A Live Update: each state, as often as `OtherDevicesDecision.shortestInterval` allows, and alerts at once.
        case states
        /// The state that brings an alert, and the end.
        case alerts
        case none
    }

    /// Browsers, and iOS devices without Live Activities.
    package enum Others: String, Sendable, Hashable, CaseIterable {
        /// An ordinary push for each key event: what carries an alert.
        case alerts
        case none
    }

    package var android = Android.states
    package var others = Others.alerts
    /// Whether `others` get the last state as a push when the subject ends without an alert.
    package var result = false
    /// What a Live Update shows of a state.
    var liveUpdate = LiveUpdateMapping()

    package init() {}

    static let match: OtherDevicesPolicy = {
        var policy = OtherDevicesPolicy()
        policy.result = true
        return policy
    }()

    /// - Parameter known: the names of the type's attributes and of its state.
    init(_ file: JSONValue, known: Set<String>) throws(SchemaError) {
        let pointer = "/otherDevices"
        let members = try OtherDevicesPolicy.members(file, ["android", "others", "result", "liveUpdate"], at: pointer)
        android = try OtherDevicesPolicy.choice(members["android"], at: "\(pointer)/android") ?? .states
        others = try OtherDevicesPolicy.choice(members["others"], at: "\(pointer)/others") ?? .alerts
        if let value = members["result"] {
            guard case .bool(let flag) = value else {
                throw SchemaError(pointer: "\(pointer)/result", message: "\"result\" must be true or false")
            }
            result = flag
        }
        if let mapping = members["liveUpdate"] {
            liveUpdate = try LiveUpdateMapping(mapping, known: known, at: "\(pointer)/liveUpdate")
        }
    }

    static func members(_ value: JSONValue, _ names: [String], at pointer: String) throws(SchemaError) -> JSONMembers {
        guard case .object(let members) = value else { throw SchemaError(pointer: pointer, message: "this is an object") }
        if let unknown = members.keys.first(where: { !names.contains($0) }) {
            throw SchemaError(
                pointer: "\(pointer)/\(unknown)",
                message: "there is no such member; known are \(names.joined(separator: ", "))"
            )
        }
        return members
    }

    static func choice<Choice: RawRepresentable & CaseIterable>(
        _ value: JSONValue?,
        at pointer: String
    ) throws(SchemaError) -> Choice? where Choice.RawValue == String {
        guard let value else { return nil }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw SchemaError(pointer: pointer, message: "this must be one of \(known)")
        }
        return choice
    }
}
