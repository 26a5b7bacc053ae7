import Foundation
package import HTTPServer
import ServiceKit

/// The registered attributes types: one JSON file each, in a directory. Fixed when the process starts.
package struct AttributesTypes: Sendable {
    private let types: [String: AttributesType]

    package init(_ types: [AttributesType] = []) {
        self.types = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    package var names: [String] { types.keys.sorted() }

    /// Reads all `*.json` of a directory; one that is not there holds no types.
    package init(directory: String) throws(AttributesTypesError) {
        var types: [String: AttributesType] = [:]
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory))?.filter { $0.hasSuffix(".json") }.sorted() ?? []
        for file in files {
            let path = directory + "/" + file
            guard let bytes = FileManager.default.contents(atPath: path), let json = try? JSONParser.parse(Array(bytes)) else {
                throw AttributesTypesError(file: path, reason: "it cannot be read as JSON")
            }
            let type: AttributesType
            do throws(SchemaError) {
                type = try AttributesType(file: json)
            } catch {
                throw AttributesTypesError(file: path, reason: error.description)
            }
            guard types.updateValue(type, forKey: type.name) == nil else {
                throw AttributesTypesError(file: path, reason: "another file describes \(type.name) already")
            }
        }
        self.types = types
    }

    /// What subjects of a type send to devices without Live Activities; also of a type that there is no file of any more.
    func policy(of name: String) -> OtherDevicesPolicy {
        name == MatchSubject.attributesType ? .match : types[name]?.otherDevices ?? OtherDevicesPolicy()
    }

    /// 404 with the names there are.
    package func type(_ name: String) throws(Problem) -> AttributesType {
        if name == MatchSubject.attributesType {
            throw .conflict(
                "Matches are started, updated and ended by their feed (PUT /matches/{matchId}), not by this call.",
                code: "built_in"
            )
        }
        guard let type = types[name] else {
            let known = names.isEmpty ? "none is registered" : "registered are \(names.joined(separator: ", "))"
            throw .notFound(
                "There is no attributes type \"\(name.prefix(64))\"; \(known). Add its schema to the live-activities directory."
            )
        }
        return type
    }
}

/// A schema file that cannot be used.
package struct AttributesTypesError: Error, Sendable, CustomStringConvertible {
    package var file: String
    package var reason: String

    package var description: String { "\(file): \(reason)" }
}
