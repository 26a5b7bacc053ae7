package import HTTPClient

/// The keys of an issuer over HTTPS, as `UserTokenVerifier.Loader`.
package enum JWKSEndpoint {
    /// Why no keys came.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        /// Keys that anybody on the way could replace would let anybody in.
        case notHTTPS(String)
        case status(Int)

        package var description: String {
            switch self {
            case .notHTTPS(let url): "the JWKS URL \(url) is not https"
            case .status(let status): "the JWKS URL answered \(status) instead of 200"
            }
        }
    }

    /// Fetches the URL at each load, within ten seconds. Throws at once for a URL that is not https.
    package static func loader(url: String, client: CurlClient) throws(Failure) -> UserTokenVerifier.Loader {
        guard url.hasPrefix("https://") else { throw .notHTTPS(url) }
        return {
            var request = OutboundRequest(method: "GET", url: url, headers: [("accept", "application/json")], timeout: .seconds(10))
            request.connectionGroup = "keys of users"
            let response = try await client.send(request)
            guard response.status == 200 else { throw Failure.status(response.status) }
            return response.body
        }
    }
}
