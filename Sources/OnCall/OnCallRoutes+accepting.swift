import Alerting
import Foundation
import HTTPServer
import Hummingbird
import Logging
import PushContract

extension OnCallRoutes {
    /// What accepting would mean; the button on it does it.
    @Sendable
    func acceptPage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let caller = try context.require(.alertsWrite)
        guard let alert = try await actions.alert(try id(context)) else { throw Self.unknownAlert }
        let moment = clock()
        if let problem = AcceptanceRequest.refusal(of: alert, at: moment) { throw problem }
        return PageResponse.html(templates.html(.accept, AcceptPage(alert, reader: caller.name, now: moment)))
    }

    @Sendable
    func accept(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let caller = try context.require(.alertsWrite)
        let wanted = try AcceptanceRequest(reason: try await FormBody.read(request)["reason"])
        guard let alert = try await actions.alert(try id(context)) else { throw Self.unknownAlert }
        let moment = clock()
        if let problem = AcceptanceRequest.refusal(of: alert, at: moment) { throw problem }
        try await actions.accept(alert, reason: wanted.reason, by: caller.name, at: moment)
        context.logger.info("A level was accepted as normal", metadata: ["rule": "\(alert.rule)", "group": "\(alert.group)"])
        return PageResponse.seeOther(alert.pagePath)
    }

    @Sendable
    func undoAcceptance(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let caller = try context.require(.alertsWrite)
        let form = try await FormBody.read(request)
        guard let id = UUID(uuidString: try context.parameters.require("id")),
            let undone = try await actions.undoAcceptance(id, by: caller.name, at: clock())
        else { throw Problem.notFound("There is no standing acceptance with this id.") }
        context.logger.info("An acceptance was taken back", metadata: ["rule": "\(undone.rule)", "group": "\(undone.group)"])
        return PageResponse.seeOther(ReturnPath(form["back"]).path)
    }
}
