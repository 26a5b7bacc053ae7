import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting

@testable import HTTPServer

/// Accepts "Bearer <scopes separated by commas>", the same with "@<app>" for a key that is limited to it, "Bearer user:<id>" and "Bearer
/// secret"; refuses "Bearer bad".
struct StubAuthenticator: Authenticator {
    func authenticate(_ request: Request) async throws -> Caller? {
        guard let header = request.headers[.authorization] else { return nil }
        let token = String(header.dropFirst("Bearer ".count))
        if token == "bad" { throw Problem.unauthenticated("This API key is not known.") }
        if token == "secret" { return .deviceSecret(hash: [1]) }
        if token.hasPrefix("user:") { return .user(userId: String(token.dropFirst(5))) }
        let parts = token.split(separator: "@").map(String.init)
        let scopes = Set(parts[0].split(separator: ",").map { Scope(rawValue: String($0)) })
        return .key(id: "k1", name: "test", scopes: scopes, apps: KeyApps(parts.count > 1 ? [parts[1]] : nil))
    }
}

struct Leaky: Error, CustomStringConvertible {
    var description: String { "password=hunter2 at /srv/secret.sql" }
}

/// Runs requests against a router with the whole edge around it.
func withEdge(
    authentication: AuthenticationMiddleware? = nil,
    translate: @escaping ProblemTranslation = { _ in nil },
    routes: (HTTPRouter) -> Void,
    test: @Sendable @escaping (any TestClientProtocol) async throws -> Void
) async throws {
    let router = HTTPRouter(authentication: authentication, translate: translate)
    routes(router)
    let application = Application(router: router)
    try await application.test(.router) { client in try await test(client) }
}

func document(_ response: TestResponse) throws -> [String: any Sendable] {
    let object = try JSONSerialization.jsonObject(with: Data(response.body.readableBytesView))
    var document: [String: any Sendable] = [:]
    for (key, value) in object as? [String: Any] ?? [:] {
        if let text = value as? String { document[key] = text } else if let number = value as? Int { document[key] = number }
    }
    return document
}
