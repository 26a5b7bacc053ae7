import HTTPServer
package import ServiceKit

/// A kind of Live Activity that an app declares: the name of its `ActivityAttributes` struct, and what its two parts hold.
package struct AttributesType: Sendable, Hashable {
    package var name: String
    package var attributes: ValueSchema
    package var contentState: ValueSchema

    /// Reads one file of the directory: `name`, `attributes`, `contentState`, and words about them.
    package init(file: JSONValue) throws(SchemaError) {
        guard case .object(let members) = file else { throw SchemaError(pointer: "", message: "the file holds one JSON object") }
        if let unknown = members.keys.sorted().first(where: {
            !["name", "description", "$schema", "attributes", "contentState"].contains($0)
        }) {
            throw SchemaError(
                pointer: "/\(unknown)",
                message: "there is no such member; known are name, description, attributes, contentState"
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
    }

    private static func isName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first.properties.isAlphabetic else { return false }
        return (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F }
    }
}
