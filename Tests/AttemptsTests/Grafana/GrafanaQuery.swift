import PushContract

/// A panel's SQL with Grafana's macros and variables replaced, as its PostgreSQL data source replaces them: a macro's arguments end at
/// the first closing parenthesis, a variable with several values becomes a quoted list.
struct GrafanaQuery {
    var from: String
    var to: String
    /// Seconds of `$__interval`.
    var interval: Int
    /// `now()` of the panels that ask how long ago something was.
    var now: String
    var variables: [String: [String]]

    func expand(_ text: String) -> String {
        var sql = text.replacing("$__interval_ms", with: String(interval * 1000)).replacing("$__interval", with: "\(interval)s")
        for (name, values) in variables {
            sql = sql.replacing("$\(name)", with: values.map { "'" + $0.replacing("'", with: "''") + "'" }.joined(separator: ","))
        }
        sql = sql.replacing(/\$__([A-Za-z]+)\(([^)]*)\)/) { match in macro(String(match.1), String(match.2)) }
        return sql.replacing("now()", with: "'\(now)'::timestamptz")
    }

    private func macro(_ name: String, _ inside: String) -> String {
        let arguments = inside.split(separator: ",").map { String($0.trimmingPrefix(while: \.isWhitespace)) }
        return switch name {
        case "timeFrom": "'\(from)'"
        case "timeTo": "'\(to)'"
        case "timeFilter": "\(inside) BETWEEN '\(from)' AND '\(to)'"
        case "timeGroup": GrafanaQuery.group(arguments)
        case "timeGroupAlias": GrafanaQuery.group(arguments) + " AS \"time\""
        default: "$__\(name)(\(inside))"
        }
    }

    private static func group(_ arguments: [String]) -> String {
        let width = arguments[1].filter { $0 != "'" }
        let seconds = width.hasSuffix("d") ? 86_400 * (Int(width.dropLast()) ?? 0) : Int(width.dropLast()) ?? 0
        return "floor(extract(epoch from \(arguments[0]))/\(seconds))*\(seconds)"
    }
}
