import HTTPServer
import Hummingbird
import PushContract

/// The actions on the send gate of the page *Now*.
extension NowPage {
    @Sendable
    static func closeCircuit(_ call: PageCall) async throws -> Response {
        guard let id = Int64(try call.context.parameters.require("id")),
            try await call.site.actions.closeCircuit(id, recording: try call.audit())
        else { throw Problem.notFound("This circuit is closed already. The page Now lists the open ones.") }
        return PageResponse.seeOther("/")
    }

    @Sendable
    static func endPause(_ call: PageCall) async throws -> Response {
        let form = try await call.form()
        guard let provider = form["provider"].flatMap({ Provider(rawValue: $0) }), let app = form["app"] else {
            throw Problem.invalid("Name the provider and the app whose pause ends.", pointer: "/provider")
        }
        try await call.site.actions.endPause(provider, app: app, recording: try call.audit())
        return PageResponse.seeOther("/")
    }
}
