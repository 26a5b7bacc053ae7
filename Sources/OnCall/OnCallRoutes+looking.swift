import Foundation
import HTTPServer
import Hummingbird
import PushContract

extension OnCallRoutes {
    /// A form's post, not a query: what people paste may be a raw token, which belongs in no address and no log.
    @Sendable
    func search(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let reader = try reader(context)
        let moment = clock()
        let term = SearchTerm(try await FormBody.read(request)["q"] ?? "")
        switch try await people.find(term, now: moment) {
        case .person(let uid): return PageResponse.seeOther(PersonPath.path(uid: uid))
        case .people(let sendId, let uids):
            return PageResponse.html(
                templates.html(.search, SearchPage(sendId: sendId, uids: uids, reader: reader.name, now: moment))
            )
        case .nobody:
            return PageResponse.html(templates.html(.search, SearchPage(nobody: reader.name, now: moment)), status: .notFound)
        }
    }

    @Sendable
    func personPage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let reader = try reader(context)
        let moment = clock()
        guard let uid = try context.parameters.require("uid").removingPercentEncoding else {
            throw Problem.notFound("This address holds no uid.")
        }
        let page = PersonPage(try await people.read(uid, now: moment), reader: reader.name, now: moment)
        return PageResponse.html(templates.html(.person, page))
    }

    @Sendable
    func rulesPage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let reader = try reader(context)
        let moment = clock()
        return PageResponse.html(
            templates.html(.rules, RulesPage(try await rules.read(now: moment), reader: reader, now: moment))
        )
    }

    @Sendable
    func matchesPage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let reader = try reader(context)
        let moment = clock()
        let page = MatchesPage(try await matches.read(now: moment), reader: reader.name, now: moment)
        return PageResponse.html(templates.html(.matches, page))
    }

    @Sendable
    func matchPage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let reader = try reader(context)
        let moment = clock()
        guard let name = try context.parameters.require("subject").removingPercentEncoding,
            let data = try await matches.subject(name, now: moment)
        else { throw Problem.notFound("There is no match and no other subject of Live Activities with this name.") }
        return PageResponse.html(templates.html(.match, MatchPage(data, reader: reader.name, now: moment)))
    }

    @Sendable
    func notificationsPage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let reader = try reader(context)
        return PageResponse.html(
            templates.html(.notifications, NotificationsPage(try await notifications.read(), reader: reader.name, now: clock()))
        )
    }

    @Sendable
    func auditPage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let reader = try reader(context)
        return PageResponse.html(
            templates.html(.audit, AuditPage(try await actions.audited(), reader: reader.name, now: clock()))
        )
    }
}
