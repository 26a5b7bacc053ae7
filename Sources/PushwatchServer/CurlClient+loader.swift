import Access
import CurlHTTP

extension CurlClient {
    /// Fetches an issuer's keys.
    func loader(url: String) -> UserTokenVerifier.Loader {
        {
            let response = try await self.send(OutboundRequest(method: "GET", url: url, timeout: .seconds(10)))
            guard response.status == 200 else { throw ConfigurationError("\(url) answered \(response.status) instead of keys.") }
            return response.body
        }
    }
}
