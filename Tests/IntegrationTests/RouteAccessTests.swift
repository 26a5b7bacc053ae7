import Access
import Foundation
import HTTPServer
import HTTPTypes
import PushContract
import Server
import Synchronization
import TestDatabase
import Testing

/// Who may call each route of the running server.
@Suite("Access to routes")
struct RouteAccessTests {
    /// A route as `docs/openapi.yaml` names it.
    private struct Route: Sendable {
        let method: String
        let path: String
        let access: RouteAccess
        let apps: RouteApps

        init(_ route: HTTPRouter.Route) {
            let parts = route.path.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
            (method, path, access, apps) = (route.method.rawValue, "/" + parts.joined(separator: "/"), route.access, route.apps)
        }

        var name: String { "\(method) \(path)" }
        /// With a value for each parameter.
        var address: String { path.replacing(/\{\w+\}/, with: "00000000-0000-0000-0000-000000000000") }

        /// What the document says under `security`.
        var security: Set<String> {
            switch access {
            case .open: []
            case .scope(let scope): [scope.rawValue]
            case .user: ["appUser"]
            case .userOrScope(let scope): ["appUser", scope.rawValue]
            case .userOrDeviceSecret: ["appUser", "unregisterSecret"]
            }
        }
    }

    /// The scopes and kinds of callers of each route, by the document's indentation.
    private static func documented() throws -> [String: Set<String>] {
        let text = try String(contentsOfFile: ProjectDirectory.root + "/docs/openapi.yaml", encoding: .utf8)
        var security: [String: Set<String>] = [:]
        var (path, route, isSecurity) = ("", "", false)
        for line in text.prefix(upTo: text.firstRange(of: "\ncomponents:")?.lowerBound ?? text.endIndex).split(separator: "\n") {
            if let match = line.wholeMatch(of: #/  (/\S*):/#) { path = String(match.1) }
            if let match = line.wholeMatch(of: #/    (get|put|post|delete|patch):/#) { route = "\(match.1.uppercased()) \(path)" }
            if line.hasPrefix("      security:") {
                security[route] = []
                isSecurity = true
            } else if isSecurity, let match = line.wholeMatch(of: #/        - (?:apiKey|session): \["([a-z:]+)"\]/#) {
                security[route]?.insert(String(match.1))
            } else if isSecurity, let match = line.wholeMatch(of: #/        - (appUser|unregisterSecret): \[\]/#) {
                security[route]?.insert(String(match.1))
            } else if !line.hasPrefix("        - ") {
                isSecurity = false
            }
        }
        return security
    }

    private static let open: Set<String> = [
        "GET /health", "GET /health/ready", "GET /assets/pushwatch.css", "GET /assets/pushwatch.js", "GET /sign-in", "POST /sign-in",
        "POST /sign-out",
    ]

    @Test(
        "every route states who may call it, as the document does; strangers, callers without the scope and what only looks like a credential are refused"
    )
    func everyRoute() async throws {
        let seen = Mutex<[Route]>([])
        var hooks = PushwatchServer.Hooks()
        hooks.routes = { router in seen.withLock { $0 = router.routes.map(Route.init) } }
        try await withServer(hooks: hooks) { server in
            let routes = seen.withLock { $0 }
            #expect(routes.count > 60)
            #expect(Set(routes.filter { $0.access == .open }.map(\.name)) == Self.open)
            let documented = try Self.documented()
            for route in routes {
                #expect(documented[route.name] == route.security, "the security of \(route.name) in docs/openapi.yaml")
            }

            let keys = APIKeyStore(server.pool)
            var without: [Scope: API] = [:]
            for scope in Scope.allScopes {
                let others = Set(Scope.allScopes).subtracting([scope])
                let key = try await keys.create(name: "without \(scope)", scopes: others, createdBy: "test", now: .now())
                without[scope] = server.api.with(bearer: key.text.text)
            }
            let (nobody, user) = (server.api.with(bearer: nil), try server.asUser("u1"))
            let invalid = try await invalidCredentials(keys)
            for route in routes where route.access != .open {
                #expect(try await nobody.call(route.method, route.address).status == 401, "\(route.name) without credentials")
                for (name, header) in invalid {
                    let answer = try await nobody.call(route.method, route.address, headers: [header])
                    #expect(answer.status == 401, "\(route.name) with \(name): \(answer.text)")
                    #expect(answer[header: "www-authenticate"]?.hasPrefix("Bearer") == true && answer.code == "unauthenticated", "\(name)")
                }
                if case .scope(let scope) = route.access {
                    let key = try await keys.create(name: "only \(scope)", scopes: [scope], createdBy: "test", now: .now())
                    let answer = try await server.api.with(bearer: key.text.text)
                        .call(route.method, route.address, headers: [("Sec-Fetch-Site", "same-origin")])
                    #expect(![401, 403].contains(answer.status) && answer.status < 500, "\(route.name) with \(scope): \(answer.text)")
                }
                switch route.access {
                case .scope(let scope):
                    try await expectRefusal(of: route, to: try #require(without[scope]), naming: scope)
                    try await expectRefusal(of: route, to: user, naming: scope)
                case .userOrScope(let scope): try await expectRefusal(of: route, to: try #require(without[scope]), naming: scope)
                case .open, .user, .userOrDeviceSecret:
                    #expect(try await server.api.call(route.method, route.address).status == 403, "\(route.name) with an API key")
                }
            }
        }
    }

    /// Everything that looks like a credential and is none.
    private func invalidCredentials(_ keys: APIKeyStore) async throws -> [(name: String, header: (String, String))] {
        let revoked = try await keys.create(name: "revoked", scopes: Set(Scope.allScopes), createdBy: "test", now: .now())
        try await keys.revoke(id: revoked.key.id, now: .now())
        let real = try await keys.create(name: "real", scopes: Set(Scope.allScopes), createdBy: "test", now: .now())
        let other = APIKeyText.generate().text
        func bearer(_ text: String) -> (String, String) { ("Authorization", "Bearer \(text)") }
        return [
            ("an unknown key", bearer(other)), ("a revoked key", bearer(revoked.text.text)),
            ("a key's id with another secret", bearer("pw_\(real.key.id)_\(other.suffix(43))")),
            ("a key without its last character", bearer(String(real.text.text.dropLast()))),
            ("a key in another scheme", ("Authorization", "Basic \(real.text.text)")), ("a key alone", ("Authorization", real.text.text)),
            ("an empty key", ("Authorization", "Bearer ")),
            ("a token without a signature", bearer("eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1MSJ9.")),
            ("a token of another issuer", bearer("eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ.eyJzdWIiOiJ1MSJ9.AAAA")),
            ("an invented session", ("Cookie", "pushwatch_session=\(String(repeating: "A", count: 43))")),
            ("a key as a session", ("Cookie", "pushwatch_session=\(real.text.text.suffix(43))")),
            ("a key's id as a session", ("Cookie", "pushwatch_session=\(real.key.id)")),
        ]
    }

    /// The routes that docs/authentication.md says a limited key may call to write.
    private static func documentedForLimitedKeys() throws -> Set<String> {
        let text = try String(contentsOfFile: ProjectDirectory.root + "/docs/authentication.md", encoding: .utf8)
        let names = text.matches(of: #/\n\| `((?:PUT|POST|DELETE|PATCH) \/[^`]+)` \|/#).map { String($0.1) }
        return Set(names)
    }

    @Test("a key that is limited to apps is refused by every route that writes, except those the document lists, which check the app")
    func limitedKeys() async throws {
        let seen = Mutex<[Route]>([])
        var hooks = PushwatchServer.Hooks()
        hooks.routes = { router in seen.withLock { $0 = router.routes.map(Route.init) } }
        try await withServer(hooks: hooks) { server in
            let routes = seen.withLock { $0 }.filter { $0.method != "GET" }
            let documented = try Self.documentedForLimitedKeys()
            let checked = Set(routes.filter { $0.apps == .checked }.map(\.name))
            #expect(checked.contains("POST /sends"))
            #expect(checked.subtracting(documented) == [], "not in docs/authentication.md")
            #expect(documented.subtracting(checked) == [], "in docs/authentication.md, and closed")
            let made = try await APIKeyStore(server.pool).create(
                name: "limited",
                scopes: Set(Scope.allScopes),
                apps: .only(["com.a"]),
                createdBy: "test",
                now: .now()
            )
            let limited = server.api.with(bearer: made.text.text)
            for route in routes {
                switch route.access {
                case .open, .user, .userOrDeviceSecret: continue
                case .scope, .userOrScope: break
                }
                let answer = try await limited.call(route.method, route.address)
                if route.apps == .closed {
                    #expect(answer.status == 403 && answer.text.contains("concerns every app"), "\(route.name): \(answer.status)")
                } else {
                    #expect(answer.status >= 400 && !answer.text.contains("concerns every app"), "\(route.name): \(answer.status)")
                }
            }
            #expect(try await limited.get("/sends/backlog").status == 200, "reading is the matter of scopes")
        }
    }

    private func expectRefusal(of route: Route, to caller: API, naming scope: Scope) async throws {
        let answer = try await caller.call(route.method, route.address)
        #expect(answer.status == 403 && answer.text.contains("needs the scope \(scope)"), "\(route.name) without \(scope)")
    }
}
