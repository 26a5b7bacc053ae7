/// One request as the checks see it: no sockets, no clock.
struct SimulatedRequest: Sendable, Hashable {
    /// Identifies the connection.
    var connection: String = ""
    var method: String = "POST"
    /// The path without the query, still percent-encoded.
    var path: String
    /// Lower-case names, in the order sent.
    var headers: [SimulatedResponse.Header] = []
    var body: [UInt8] = []

    func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    /// What follows `Bearer` in the authorization header, the word in any case.
    var bearer: String? {
        guard let value = header("authorization"), value.count > 7 else { return nil }
        return value.prefix(7).lowercased() == "bearer " ? String(value.dropFirst(7)) : nil
    }
}
