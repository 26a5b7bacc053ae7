import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit

/// The control port. Plain HTTP, for the machine it runs on; it asks for no credentials.
///
/// - `GET /`: the endpoints.
/// - `PUT /faults?seed=`: a JSON list of rules (see `FaultRule`); replaces the rules in force. `GET /faults` adds `hits`; `DELETE /faults`.
/// - `PUT /tokens/{token}`: what a token is (see `ScriptedToken`). `GET`, `DELETE`.
/// - `GET /requests?provider=&token=&limit=100`: recorded requests, oldest first, the newest `limit` of them. `DELETE /requests`.
/// - `GET /stats`: counts by provider and answer, and connections.
/// - `PUT /connections`: how connections behave (see `ConnectionConditions`); open ones are notified. `GET /connections`.
/// - `POST /connections/goaway`: GOAWAY on every open connection.
/// - `DELETE /oauth/tokens`: revokes all access tokens.
///
/// What it does not understand is `400 {"error": "faults[0].sharre: unknown key; …"}` and changes nothing.
struct ControlRoutes: Sendable {
    let simulator: ProviderSimulator

    var router: Router<SimulatorContext> {
        let router = Router(context: SimulatorContext.self)
        router.add(middleware: ControlErrors())
        router.get("/") { _, _ in Self.json(try await simulator.ready()) }
        addFaults(to: router)
        addTokens(to: router)
        addRequests(to: router)
        addConnections(to: router)
        router.delete("/oauth/tokens") { _, _ in
            simulator.revokeAccessTokens()
            return Response(status: .noContent)
        }
        return router
    }

    private func addFaults(to router: Router<SimulatorContext>) {
        router.get("/faults") { _, _ in Self.json(faultList) }
        router.put("/faults") { request, _ in
            let rules = try FaultRuleReader.rules(from: try await Self.body(of: request))
            simulator.setFaults(rules, seed: try Self.number("seed", of: request).map { UInt64($0) })
            return Self.json(faultList)
        }
        router.delete("/faults") { _, _ in
            simulator.setFaults([])
            return Response(status: .noContent)
        }
    }

    private func addConnections(to router: Router<SimulatorContext>) {
        router.get("/connections") { _, _ in Self.json(simulator.connectionConditions) }
        router.put("/connections") { request, _ in
            let object = try StrictObject(try await Self.body(of: request), at: "connections")
            try object.allow([
                "maxStreams", "oneStreamUntilAuthorised", "expiredCertificate", "requiresClientCertificate", "refusesConnections",
            ])
            let conditions = ConnectionConditions(
                maxStreams: Int(try object.integer("maxStreams", in: 0...1_000_000) ?? 1000),
                oneStreamUntilAuthorised: try object.bool("oneStreamUntilAuthorised") ?? false,
                expiredCertificate: try object.bool("expiredCertificate") ?? false,
                requiresClientCertificate: try object.bool("requiresClientCertificate") ?? false,
                refusesConnections: try object.bool("refusesConnections") ?? false
            )
            simulator.setConnections(conditions)
            return Self.json(conditions)
        }
        router.post("/connections/goaway") { _, _ in
            simulator.drainConnections()
            return Response(status: .noContent)
        }
    }

    private func addTokens(to router: Router<SimulatorContext>) {
        router.put("/tokens/:token") { request, context in
            let script = try ScriptedTokenReader.token(from: try await Self.body(of: request))
            simulator.setToken(try Self.token(of: context), script)
            return Self.json(script)
        }
        router.get("/tokens/:token") { _, context in
            Self.json(simulator.token(try Self.token(of: context)) ?? ScriptedToken())
        }
        router.delete("/tokens/:token") { _, context in
            simulator.removeToken(try Self.token(of: context))
            return Response(status: .noContent)
        }
    }

    private func addRequests(to router: Router<SimulatorContext>) {
        router.get("/requests") { request, _ in
            let query = request.uri.queryParameters
            let provider = query.get("provider")
            if let provider, SimulatedProvider(rawValue: provider) == nil {
                throw ControlError("provider: must be apns, fcm or oauth")
            }
            return Self.json(
                RequestList(
                    total: simulator.statistics.total,
                    requests: simulator.requests(
                        provider: provider.flatMap(SimulatedProvider.init(rawValue:)),
                        token: query.get("token"),
                        limit: try Self.number("limit", of: request) ?? 100
                    )
                )
            )
        }
        router.delete("/requests") { _, _ in
            simulator.removeRequests()
            return Response(status: .noContent)
        }
        router.get("/stats") { _, _ in Self.json(simulator.statistics) }
    }

    private var faultList: JSONValue {
        .array(simulator.faults.map { .object($0.rule.json.merging(["hits": .integer(Int64($0.hits))]) { $1 }) })
    }

    private static func json(_ value: some Encodable) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: encodedJSON(value) + Array("\n".utf8)))
        )
    }

    private static func body(of request: Request) async throws -> JSONValue {
        let buffer = try await request.body.collect(upTo: 4 << 20)
        guard let json = JSONValue(bytes: Array(buffer.readableBytesView)) else { throw ControlError("the body is not JSON") }
        return json
    }

    private static func token(of context: SimulatorContext) throws -> String {
        let raw = try context.parameters.require("token")
        return raw.removingPercentEncoding ?? raw
    }

    private static func number(_ name: String, of request: Request) throws -> Int? {
        guard let text = request.uri.queryParameters.get(name) else { return nil }
        guard let number = Int(text), number >= 0 else { throw ControlError("\(name): must be a whole number, 0 or more") }
        return number
    }
}

/// `GET /requests`.
struct RequestList: Sendable, Codable {
    /// All requests since the start, kept or not.
    var total: Int
    /// Oldest first.
    var requests: [RecordedRequest]
}
