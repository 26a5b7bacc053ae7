import Alerting
import Foundation
import HTTPServer
import Hummingbird
import Logging

extension SilencePage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let actions = call.site.actions
        guard let alert = try await actions.alert(try call.alertId()) else { throw PageCall.unknownAlert }
        return call.html(.silence, SilencePage(alert, firing: try await actions.firing(), reader: call.name, now: call.now))
    }

    @Sendable
    static func silence(_ call: PageCall) async throws -> Response {
        let actions = call.site.actions
        guard let alert = try await actions.alert(try call.alertId()) else { throw PageCall.unknownAlert }
        let draft = try SilenceDraft(try await call.form(), of: alert)
        try await actions.silence(draft, recording: try call.audit())
        call.context.logger.info("alerts silenced", metadata: ["rule": "\(alert.rule)", "minutes": "\(draft.minutes)"])
        return PageResponse.seeOther(alert.pagePath)
    }

    @Sendable
    static func end(_ call: PageCall) async throws -> Response {
        let form = try await call.form()
        guard let id = UUID(uuidString: try call.parameter("id")),
            try await call.site.actions.endSilence(id, recording: try call.audit())
        else { throw Problem.notFound("There is no silence with this id, or it has ended. The page Now lists those that have not.") }
        call.context.logger.info("a silence was ended", metadata: ["silenceId": "\(id)"])
        return PageResponse.seeOther(ReturnPath(form["back"]).path)
    }
}
