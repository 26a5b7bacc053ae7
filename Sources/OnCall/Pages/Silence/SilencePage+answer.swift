import Alerting
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
}
