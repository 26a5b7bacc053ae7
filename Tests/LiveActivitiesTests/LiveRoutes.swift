import Delivery
import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import PushContract
import ServiceKit

@testable import LiveActivities

/// The routes over a bench, called as a user ("ann") or as a service.
struct LiveRoutes: Sendable {
    let bench: LiveBench
    let client: any TestClientProtocol

    static let typesDirectory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("live-activities").path

    static func with(
        _ change: (inout LiveConfiguration) -> Void = { _ in },
        _ body: @Sendable (LiveRoutes) async throws -> Void
    ) async throws {
        try await LiveBench.with(change) { bench in
            let types = try AttributesTypes(directory: typesDirectory)
            let router = HTTPRouter(authentication: AuthenticationMiddleware(NamedCallers()))
            let clock = bench.clock
            let now: @Sendable () -> Timestamp = { clock.now }
            FollowRoutes(
                store: bench.follows,
                starts: StartStatusStore(pool: bench.pool, policy: bench.policy, types: types),
                wake: WakeSignal(),
                now: now
            ).add(to: router)
            ActivityRoutes(store: bench.activities, wake: WakeSignal(), now: now).add(to: router)
            let custom = CustomActivityStore(pool: bench.pool, policy: bench.policy)
            CustomActivityRoutes(store: custom, types: types, wake: WakeSignal(), now: now).add(to: router)
            SubjectRoutes(
                states: custom,
                follows: bench.follows,
                overview: SubjectOverviewStore(pool: bench.pool),
                starts: StartStatusStore(pool: bench.pool, policy: bench.policy, types: types),
                types: types,
                wake: WakeSignal(),
                now: now
            ).add(to: router)
            OverviewRoutes(
                matches: MatchOverviewStore(pool: bench.pool),
                subjects: SubjectOverviewStore(pool: bench.pool),
                now: now
            ).add(to: router)
            try await Application(router: router).test(.router) { client in try await body(LiveRoutes(bench: bench, client: client)) }
        }
    }

    func call(_ path: String, _ method: HTTPRequest.Method, as caller: String?, _ body: String? = nil) async throws -> TestResponse {
        var headers: HTTPFields = [:]
        if let caller { headers[.authorization] = caller }
        if body != nil { headers[.contentType] = "application/json" }
        return try await client.executeRequest(uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
    }
}

/// Lets in whom the `Authorization` header names.
private struct NamedCallers: Authenticator {
    func authenticate(_ request: Request) async throws -> Caller? {
        guard let name = request.headers[.authorization] else { return nil }
        if name == "service" { return .key(id: "k", name: "service", scopes: Set(Scope.allScopes)) }
        return .user(userId: name)
    }
}
