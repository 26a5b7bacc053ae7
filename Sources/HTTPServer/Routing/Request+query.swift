package import Hummingbird

extension Request {
    /// The parameters of the query. Throws 400 for one that the route does not have: what was misspelt would have no effect, and the
    /// request another one than the caller thinks.
    package func query(_ names: String...) throws(Problem) -> [Substring: Substring] {
        var query: [Substring: Substring] = [:]
        // Nothing is named between two `&`.
        for (name, value) in uri.queryParameters where !name.isEmpty {
            guard names.contains(String(name)) else {
                throw .badRequest(
                    "unknown parameter `\(name)`; expected one of \(names.joined(separator: ", ")).",
                    code: "unknown_parameter"
                )
            }
            guard query.updateValue(value, forKey: name) == nil else {
                throw .badRequest("`\(name)` is given more than once.", code: "invalid_parameter")
            }
        }
        return query
    }
}

extension [Substring: Substring] {
    /// The parameter `limit`; `standard` where it is not given. Throws 400 for anything but a number from 1 to `maximum`.
    package func limit(standard: Int, maximum: Int) throws(Problem) -> Int {
        guard let text = self["limit"] else { return standard }
        guard let limit = Int(text), (1...maximum).contains(limit) else {
            throw .badRequest("`limit` must be a number from 1 to \(maximum).", code: "invalid_parameter")
        }
        return limit
    }
}
