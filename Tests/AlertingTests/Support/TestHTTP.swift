import HTTPClient
import TestDatabase

/// The real client.
struct TestHTTP: Sendable {
    private let client = CurlClient(configuration: CurlClientConfiguration())

    func send(_ request: OutboundRequest) async throws -> OutboundResponse { try await client.send(request) }
}
