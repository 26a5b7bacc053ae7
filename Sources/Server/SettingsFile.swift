import AlertRules
import Foundation
import ServiceKit
import Yams

/// A YAML file that a setting names. Errors name the file and the place in it.
struct SettingsFile {
    let name: String
    let root: Any?

    init(_ path: String, of setting: ConfigurationKey) throws(ConfigurationError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("`\(setting.name)`: \(path) cannot be read: \(FileFault.cause(path)).", isUnreadableFile: true)
        }
        try self.init(yaml: String(decoding: data, as: UTF8.self), name: path)
    }

    init(yaml: String, name: String) throws(ConfigurationError) {
        self.name = name
        do { root = try Yams.load(yaml: yaml) } catch { throw ConfigurationError("\(name) is not YAML: \(YAMLFault.text(of: error))") }
    }

    /// The file as a list of mappings.
    ///
    /// - Parameters:
    ///   - item: what one is called.
    ///   - keys: that it may have.
    func list(of item: String, with keys: [String]) throws(ConfigurationError) -> [SettingsMapping] {
        guard let values = root as? [Any] else { throw ConfigurationError("\(name) must be a list of \(item)s.") }
        var items: [SettingsMapping] = []
        for (index, value) in values.enumerated() {
            items.append(try SettingsMapping(value, of: item, with: keys, at: "\(name): \(item) \(index + 1)"))
        }
        return items
    }
}

/// A mapping of a settings file.
struct SettingsMapping {
    /// File and place, as errors have them.
    let path: String
    private let members: [String: Any]

    fileprivate init(_ value: Any, of item: String, with keys: [String], at path: String) throws(ConfigurationError) {
        let known = keys.map { "`\($0)`" }.joined(separator: ", ")
        guard let members = value as? [String: Any] else { throw ConfigurationError("\(path) must be a mapping of \(known).") }
        if let unknown = members.keys.filter({ !keys.contains($0) }).min() {
            throw ConfigurationError("\(path): `\(unknown)` is not known; a \(item) has \(known).")
        }
        (self.path, self.members) = (path, members)
    }

    subscript(key: String) -> Any? { members[key] }

    /// `url`, which must be there.
    func url() throws(ConfigurationError) -> String {
        guard let url = members["url"] as? String, url.isHTTPAddress else {
            throw ConfigurationError("\(path): `url` must begin with https:// or http:// and a host.")
        }
        return url
    }
}
