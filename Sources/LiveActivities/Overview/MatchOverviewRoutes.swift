package import HTTPServer
import Hummingbird
import PushContract

/// `GET /matches`: what is on, and how many follow it.
package struct MatchOverviewRoutes: Sendable {
    private let store: MatchOverviewStore

    package init(store: MatchOverviewStore) { self.store = store }

    package func add(to router: HTTPRouter) {
        router.get("/matches", .scope(.sendsRead)) { _, context in
            return try JSONResponse(MatchList(matches: try await store.matches(now: .now()))).response()
        }
    }
}

struct MatchList: Encodable, Sendable {
    var matches: [MatchOverviewStore.Entry]
}
