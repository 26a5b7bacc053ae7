import Foundation

/// The runbooks of the alerts directory, read for each page: an edited one shows at once.
package struct RunbookDirectory: Sendable {
    private let directory: String
    /// A runbook is a page or two; anything larger is not one.
    private static let sizeLimit = 256 * 1_024

    /// - Parameter directory: the alerts directory; runbooks are in its `runbooks/`.
    package init(alertsDirectory directory: String) { self.directory = directory }

    /// The text of `runbooks/<name>`; nil when there is none, or the name is not that of a plain file.
    func text(named name: String) -> String? {
        guard Self.isPlain(name), let data = FileManager.default.contents(atPath: "\(directory)/runbooks/\(name)"),
            data.count <= Self.sizeLimit
        else { return nil }
        return String(data: data, encoding: .utf8)
    }

    /// The name within `runbooks/` that an annotation points to; nil for an address elsewhere.
    static func name(of annotation: String) -> String? {
        let folder = "runbooks/"
        guard annotation.hasPrefix(folder) else { return nil }
        let name = String(annotation.dropFirst(folder.count))
        return isPlain(name) ? name : nil
    }

    /// Letters, digits, `-`, `_` and `.`, ending in `.md`: no name can leave the directory.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.count <= 100 && name.hasSuffix(".md") && !name.hasPrefix(".")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
