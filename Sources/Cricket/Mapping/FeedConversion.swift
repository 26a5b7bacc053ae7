import PushContract
import ServiceKit

/// What is made of a vendor's value before it becomes a field of a state.
struct FeedConversion: Sendable, Hashable {
    enum Target: String, Sendable, Hashable, CaseIterable {
        case text, number, boolean, overs, epochSeconds, epochMilliseconds
    }

    /// The text of the state's value for each text of the vendor's; nil: any value goes through.
    var values: JSONMembers?
    /// For a value that is not listed; nil: that is an error.
    var otherwise: JSONValue?
    var target: Target?
    var prefix: String?

    /// Nil leaves the field out.
    func converted(_ location: FeedPath.Location) throws(FeedError) -> JSONValue? {
        guard var value = location.value else { return nil }
        if let values {
            let text = FeedConversion.text(value)
            guard let listed = text.flatMap({ values[$0] }) ?? otherwise else {
                let known = values.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
                throw FeedError(
                    pointer: location.pointer,
                    detail: "The value \(text.map { "\"\($0.prefix(100))\"" } ?? value.kind) is not among \"values\" (\(known)). "
                        + "Add it, or say what it counts as with \"otherwise\"."
                )
            }
            value = listed
        }
        if let target { value = try FeedConversion.value(value, as: target, at: location.pointer) }
        if let prefix, value != .null {
            guard let text = FeedConversion.text(value) else {
                throw FeedConversion.fault(location.pointer, value, "a text for \"prefix\"")
            }
            value = .string(prefix + text)
        }
        return value == .null ? nil : value
    }

    private static func value(_ value: JSONValue, as target: Target, at pointer: String) throws(FeedError) -> JSONValue {
        guard value != .null else { return .null }
        switch target {
        case .text:
            guard let text = text(value) else { throw fault(pointer, value, "a text") }
            return .string(text)
        case .number:
            guard let number = number(value) else { throw fault(pointer, value, "a whole number") }
            return .integer(number)
        case .boolean:
            switch text(value)?.lowercased() {
            case "true", "1", "yes", "y": return .bool(true)
            case "false", "0", "no", "n", "": return .bool(false)
            default: throw fault(pointer, value, "true or false")
            }
        case .overs:
            guard let overs = text(value).flatMap(Overs.init) else { throw fault(pointer, value, "overs such as 16.3") }
            return .string(overs.text)
        case .epochSeconds, .epochMilliseconds:
            guard let number = number(value), (0...253_402_300_799).contains(target == .epochSeconds ? number : number / 1000) else {
                throw fault(pointer, value, "a moment in \(target == .epochSeconds ? "seconds" : "milliseconds") since 1970")
            }
            let moment =
                target == .epochSeconds
                ? Timestamp(seconds: number) : Timestamp(seconds: number / 1000) + .milliseconds(number % 1000)
            return .string(moment.rfc3339)
        }
    }

    private static func number(_ value: JSONValue) -> Int64? {
        switch value {
        case .integer(let number): number
        case .number(let number): number.rounded() == number && abs(number) < 9e15 ? Int64(number) : nil
        case .string(let text): Int64(text)
        default: nil
        }
    }

    /// Nil for objects and arrays.
    static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .null, .array, .object: nil
        }
    }

    private static func fault(_ pointer: String, _ value: JSONValue, _ wanted: String) -> FeedError {
        let shown = text(value).map { "\"\($0.prefix(100))\"" } ?? value.kind
        return FeedError(pointer: pointer, detail: "\(shown) is not \(wanted).")
    }
}
