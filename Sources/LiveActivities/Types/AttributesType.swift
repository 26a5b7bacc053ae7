import HTTPServer
package import ServiceKit

/// A kind of Live Activity that an app declares: the name of its `ActivityAttributes` struct, and what its two parts hold.
package struct AttributesType: Sendable, Hashable {
    package var name: String
    package var attributes: ValueSchema
    package var contentState: ValueSchema
    /// Who makes followers of a subject.
    package var followedBy = FollowedBy.services
    /// Whether states of its subjects may go through broadcast channels: everybody who knows a channel's id can listen to it.
    package var usesChannels = false
    /// How long a state of its subjects is fresh after its source confirmed it; nil: their source does not repeat states.
    package var freshFor: Duration?
    /// What followers' devices get that show no Live Activities.
    package var otherDevices = OtherDevicesPolicy()

    package enum FollowedBy: String, Sendable, Hashable, CaseIterable {
        /// Services alone: a subject is not for everybody who knows its id.
        case services
        /// Services, and app users for themselves.
        case users
    }

    /// Reads one file of the directory: `name`, `attributes`, `contentState`, `followedBy`, `channels`, `freshFor`, `otherDevices`, and
    /// words about them.
    package init(file: JSONValue) throws(SchemaError) {
        guard case .object(let members) = file else { throw SchemaError(pointer: "", message: "the file holds one JSON object") }
        if let unknown = members.keys.first(where: {
            !["name", "description", "$schema", "attributes", "contentState", "followedBy", "channels", "freshFor", "otherDevices"]
                .contains($0)
        }) {
            throw SchemaError(
                pointer: "/\(unknown)",
                message:
                    "there is no such member; known are name, description, attributes, contentState, followedBy, channels, freshFor, "
                    + "otherDevices"
            )
        }
        guard case .string(let name)? = members["name"], AttributesType.isName(name) else {
            throw SchemaError(pointer: "/name", message: "\"name\" is the name of a Swift struct, such as PagerActivityAttributes")
        }
        guard name != MatchSubject.attributesType else {
            throw SchemaError(pointer: "/name", message: "\(name) is built in; matches are started by the orchestrator")
        }
        guard let attributes = members["attributes"], let contentState = members["contentState"] else {
            throw SchemaError(pointer: "", message: "\"attributes\" and \"contentState\" are both needed")
        }
        self.name = name
        self.attributes = try ValueSchema(attributes, at: "/attributes")
        self.contentState = try ValueSchema(contentState, at: "/contentState")
        if let followedBy = members["followedBy"] {
            guard case .string(let text) = followedBy, let known = FollowedBy(rawValue: text) else {
                throw SchemaError(pointer: "/followedBy", message: "\"followedBy\" is \"services\" or \"users\"")
            }
            self.followedBy = known
        }
        if let channels = members["channels"] {
            guard case .bool(let usesChannels) = channels else {
                throw SchemaError(pointer: "/channels", message: "\"channels\" must be true or false")
            }
            self.usesChannels = usesChannels
        }
        if let freshFor = members["freshFor"] {
            guard case .integer(let seconds) = freshFor, AttributesType.freshForSeconds.contains(seconds) else {
                let (shortest, longest) = (AttributesType.freshForSeconds.lowerBound, AttributesType.freshForSeconds.upperBound)
                throw SchemaError(pointer: "/freshFor", message: "\"freshFor\" is a whole number of seconds from \(shortest) to \(longest)")
            }
            self.freshFor = .seconds(seconds)
        }
        if let otherDevices = members["otherDevices"] {
            self.otherDevices = try OtherDevicesPolicy(
                otherDevices,
                known: self.attributes.memberNames.union(self.contentState.memberNames)
            )
        }
    }

    /// A heartbeat has to come in half of it, and they are looked for twice a minute.
    static let freshForSeconds: ClosedRange<Int64> = 120...86_400

    /// Checks attributes, with what the server fills in where the type has a property for it: `activityId`, by which the app names the
    /// activity, and `instance`, the number of the start (set when it is sent).
    func checkedAttributes(_ attributes: JSONValue, activityId: String) throws(Problem) -> JSONValue {
        var attributes = attributes
        if case .object(var members) = attributes, case .rules(let rules) = self.attributes {
            if rules.properties["activityId"] != nil { members["activityId"] = .string(activityId) }
            if rules.properties["instance"] != nil { members["instance"] = .integer(1) }
            attributes = .object(members)
        }
        try self.attributes.check(attributes, at: "/attributes")
        return attributes
    }

    private static func isName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first.properties.isAlphabetic else { return false }
        return (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F }
    }
}
