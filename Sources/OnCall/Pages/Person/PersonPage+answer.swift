import Foundation
import HTTPServer
import Hummingbird

extension PersonPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        guard let uid = try call.parameter("uid").removingPercentEncoding else {
            throw Problem.notFound("There is no uid in this address.")
        }
        let data = try await PersonStore(pool: call.site.pool).read(uid, now: call.now)
        return call.html(.person, PersonPage(data, reader: call.name, now: call.now))
    }
}

extension SearchPage {
    /// A form's post, not a query: what people paste may be a raw token, which must not get into an address or a log.
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let form = try await call.form()
        let typed = form["q"] ?? ""
        let term = SearchTerm(typed, isName: form["as"] == "name")
        switch try await PersonStore(pool: call.site.pool).find(term, now: call.now) {
        case .person(let uid): return PageResponse.seeOther(PersonPath.path(uid: uid))
        case .people(let sendId, let uids):
            return call.html(.search, SearchPage(sendId: sendId, uids: uids, reader: call.name, now: call.now))
        case .noMatch:
            // Only the reader can decide that it is no token.
            let mayBeName = if case .token = term { true } else { false }
            let page = SearchPage(noMatch: mayBeName ? typed : nil, reader: call.name, now: call.now)
            return call.html(.search, page, status: .notFound)
        }
    }
}
