import Foundation
import HTTPServer
import Hummingbird

extension MatchesPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let data = try await MatchesStore(pool: call.site.pool).read(now: call.now)
        return call.html(.matches, MatchesPage(data, reader: call.name, now: call.now))
    }
}

extension MatchPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        guard let name = try call.parameter("subject").removingPercentEncoding,
            let data = try await MatchesStore(pool: call.site.pool).subject(name, now: call.now)
        else { throw Problem.notFound("There is no match and no other subject of Live Activities with this name.") }
        return call.html(.match, MatchPage(data, reader: call.name, now: call.now))
    }
}
