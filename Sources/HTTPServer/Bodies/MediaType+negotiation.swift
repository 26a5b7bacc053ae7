import HTTPTypes
package import Hummingbird

extension MediaType {
    /// The media type of a `Content-Type`, lower-case and without parameters; nil when there is none.
    static func essence(_ header: String?) -> String? {
        guard let essence = header?.prefix(while: { $0 != ";" }).trimmingSpaces().lowercased(), !essence.isEmpty else { return nil }
        return essence
    }

    /// True when a browser asks: HTML is in `Accept` before any JSON. API clients send */* or JSON.
    package static func prefersHTML(_ accept: String?) -> Bool {
        for item in (accept ?? "").split(separator: ",") {
            switch essence(String(item)) {
            case "text/html", "application/xhtml+xml": return true
            case "application/json": return false
            default: continue
            }
        }
        return false
    }
}

extension Request {
    /// The request's media type if it is one of `accepted`; 415 otherwise, also when it is absent.
    package func requireContentType(_ accepted: String...) throws(Problem) -> String {
        let header = headers.value(of: .contentType)
        // Nearly every request spells it as it is written here.
        if let header, accepted.contains(header) { return header }
        guard let essence = MediaType.essence(header), accepted.contains(essence) else {
            throw .unsupportedMediaType(accepted: accepted)
        }
        return essence
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> Substring {
        var trimmed = self
        while let first = trimmed.first, first == " " || first == "\t" { trimmed.removeFirst() }
        while let last = trimmed.last, last == " " || last == "\t" { trimmed.removeLast() }
        return trimmed
    }
}
