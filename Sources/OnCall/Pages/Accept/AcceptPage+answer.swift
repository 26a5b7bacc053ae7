import Alerting
import Foundation
import HTTPServer
import Hummingbird
import Logging

extension AcceptPage {
    /// What accepting would mean; the button on the page does it.
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        guard let alert = try await call.site.actions.alert(try call.alertId()) else { throw PageCall.unknownAlert }
        if let problem = AcceptanceRequest.refusal(of: alert, at: call.now) { throw problem }
        return call.html(.accept, AcceptPage(alert, reader: call.name, now: call.now))
    }

    @Sendable
    static func accept(_ call: PageCall) async throws -> Response {
        let wanted = try AcceptanceRequest(reason: try await call.form()["reason"])
        guard let alert = try await call.site.actions.alert(try call.alertId()) else { throw PageCall.unknownAlert }
        if let problem = AcceptanceRequest.refusal(of: alert, at: call.now) { throw problem }
        try await call.site.actions.accept(alert, reason: wanted.reason, recording: try call.audit())
        call.context.logger.info("a level was accepted as normal", metadata: ["rule": "\(alert.rule)", "group": "\(alert.group)"])
        return PageResponse.seeOther(alert.pagePath)
    }

    @Sendable
    static func undo(_ call: PageCall) async throws -> Response {
        let form = try await call.form()
        guard let id = UUID(uuidString: try call.parameter("id")),
            let undone = try await call.site.actions.undoAcceptance(id, recording: try call.audit())
        else { throw Problem.notFound("There is no acceptance in force with this id.") }
        call.context.logger.info("an acceptance was undone", metadata: ["rule": "\(undone.rule)", "group": "\(undone.group)"])
        return PageResponse.seeOther(ReturnPath(form["back"]).path)
    }
}
