/// What a request about channels asks for; nil where the path is about something else.
struct ChannelRequest: Sendable, Hashable {
    enum Operation: Sendable, Hashable { case create, read, delete, list, send }

    var operation: Operation
    var bundle: String

    /// - Throws: for a path of channels with a method it does not have.
    init?(_ request: SimulatedRequest) throws(APNsRefusal) {
        let parts = request.path.split(separator: "/").map(String.init)
        switch (parts.count, parts.first, parts.last) {
        case (4, "1", "channels") where parts[1] == "apps":
            bundle = parts[2]
            operation = try Self.operation(request.method, ["POST": .create, "GET": .read, "DELETE": .delete])
        case (4, "1", "all-channels") where parts[1] == "apps":
            bundle = parts[2]
            operation = try Self.operation(request.method, ["GET": .list])
        case (4, "4", _) where parts[1] == "broadcasts" && parts[2] == "apps":
            bundle = parts[3]
            operation = try Self.operation(request.method, ["POST": .send])
        default: return nil
        }
    }

    private static func operation(_ method: String, _ known: [String: Operation]) throws(APNsRefusal) -> Operation {
        guard let operation = known[method] else {
            throw APNsRefusal(.methodNotAllowed, "the method must be one of \(known.keys.sorted().joined(separator: ", "))")
        }
        return operation
    }
}
