package import HTTPServer
import Hummingbird

/// `GET /live-activities/channels`: the broadcast channels there are, against the provider's limit.
package struct ChannelRoutes: Sendable {
    private let store: ChannelStore

    package init(store: ChannelStore) { self.store = store }

    package func add(to router: HTTPRouter) {
        router.get("/live-activities/channels", .scope(.sendsRead)) { _, context in
            return try JSONResponse(try await store.overview()).response()
        }
    }
}
