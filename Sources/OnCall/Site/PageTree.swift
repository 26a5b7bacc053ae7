import ServiceKit

/// A page's model as dictionaries and arrays, its texts without characters that could deceive readers.
///
/// Mustache reflects on a whole object for each field that a template names; in a table of a hundred rows that took most of a page's time.
/// Here each object is reflected on once. A field that is nil is left out, as Mustache itself treats it.
enum PageTree {
    static func of(_ value: Any) -> Any {
        if let text = value as? String { return text.visible }
        if value is Bool || value is Int { return value }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .collection:
            return mirror.children.map { of($0.value) }
        case .struct:
            var fields: [String: Any] = [:]
            for child in mirror.children {
                guard let name = child.label, let present = present(child.value) else { continue }
                fields[name] = of(present)
            }
            return fields
        default:
            return value
        }
    }

    /// Nil for an empty optional.
    private static func present(_ value: Any) -> Any? {
        if let text = value as? String { return text }
        if let isSo = value as? Bool { return isSo }
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return value }
        return mirror.children.first.flatMap { present($0.value) }
    }
}
