import CLibPQ

/// What a connection string of libpq says.
package enum ConnectionString {
    static func keywords(of text: String) -> [String: String] { parsed(text) ?? [:] }

    /// Why the text cannot be one that was meant; nil when it can. Never shows any of it, for it has a password.
    ///
    /// libpq takes a URI with a typing error for a name of a database, or its password for a host, and repeats it in its errors.
    package static func fault(in text: String) -> String? {
        guard let prefix = ["postgresql://", "postgres://"].first(where: text.hasPrefix) else {
            guard !text.contains(":/") || text.hasKeyword else { return "it does not begin with postgresql://, as a URI must" }
            guard text.contains("=") else { return "it is neither a URI (postgresql://…) nor a list of keyword=value" }
            guard parsed(text) != nil else { return "it is not a list of keyword=value that libpq knows; put values with spaces in '…'" }
            return nil
        }
        let parts = text.dropFirst(prefix.count).prefix { $0 != "?" }.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0].count(where: { $0 == "@" }) <= 1, parts.count == 1 || !parts[1].contains("@"), let keywords = parsed(text),
            keywords["host"]?.contains("@") != true,
            keywords["port"].map({ $0.split(separator: ",").allSatisfy { Int($0) != nil } }) ?? true
        else {
            return "it is not a URI that libpq knows; in a user and a password write %40 for @, %3A for :, %2F for / and %25 for %"
        }
        return nil
    }

    private static func parsed(_ text: String) -> [String: String]? {
        guard let parsed = PQconninfoParse(text, nil) else { return nil }
        defer { PQconninfoFree(parsed) }
        var found: [String: String] = [:]
        var entry = parsed
        while let keyword = entry.pointee.keyword {
            if let value = entry.pointee.val { found[String(cString: keyword)] = String(cString: value) }
            entry += 1
        }
        return found
    }
}

extension String {
    /// Begins with `keyword=`.
    fileprivate var hasKeyword: Bool { prefixMatch(of: /\s*[a-z_]+\s*=/) != nil }
}
