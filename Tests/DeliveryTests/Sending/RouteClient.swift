import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore

/// Lets in whom the `Authorization` header names.
struct NamedCallers: Authenticator {
    func authenticate(_ request: Request) async throws -> Caller? {
        guard let name = request.headers[.authorization] else { return nil }
        if name == "service" { return .key(id: "k", name: "service", scopes: Set(Scope.allScopes)) }
        if name == "limited" { return .key(id: "l", name: "limited", scopes: Set(Scope.allScopes), apps: .only(["com.a"])) }
        if name == "reader" { return .key(id: "r", name: "reader", scopes: [.sendsRead]) }
        return .user(userId: name)
    }
}

extension TestClientProtocol {
    func call(
        _ path: String,
        _ method: HTTPRequest.Method,
        as caller: String?,
        _ body: String? = nil
    ) async throws -> TestResponse {
        var headers: HTTPFields = [:]
        headers[.authorization] = caller
        if body != nil { headers[.contentType] = "application/json" }
        return try await execute(uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
    }
}
