import Alerting
import Foundation
import HTTPServer
import Hummingbird
import Logging
import PushContract

extension OnCallRoutes {
    @Sendable
    func silencePage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let caller = try context.require(.alertsWrite)
        guard let alert = try await actions.alert(try id(context)) else { throw Self.unknownAlert }
        let page = SilencePage(alert, firing: try await actions.firing(), reader: caller.name, now: clock())
        return PageResponse.html(templates.html(.silence, page))
    }

    @Sendable
    func silence(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let caller = try context.require(.alertsWrite)
        guard let alert = try await actions.alert(try id(context)) else { throw Self.unknownAlert }
        let draft = try SilenceDraft(try await FormBody.read(request), of: alert)
        try await actions.silence(draft, by: caller.name, at: clock())
        context.logger.info("Alerts silenced", metadata: ["rule": "\(alert.rule)", "minutes": "\(draft.minutes)"])
        return PageResponse.seeOther(alert.pagePath)
    }

    @Sendable
    func mark(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let caller = try context.require(.alertsWrite)
        let id = try id(context)
        guard let verdict = try await FormBody.read(request)["verdict"], ["real", "noise"].contains(verdict) else {
            throw Problem.invalid("An alert is marked as real or as noise.", pointer: "/verdict")
        }
        guard try await actions.mark(id, verdict: verdict, in: rules, by: caller.name, at: clock()) else { throw Self.unknownAlert }
        return PageResponse.seeOther("/oncall/alerts/\(id.uuidString.lowercased())")
    }

    /// Tried at once and shown, not kept: the answer is about this moment.
    @Sendable
    func checkCredentials(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let caller = try context.require(.alertsWrite)
        let back = ReturnPath(try await FormBody.read(request)["back"])
        let checks = try await credentials.check()
        try await actions.noteCheck(checks, by: caller.name, at: clock())
        let page = CredentialsPage(checks, back: back, reader: caller.name, now: clock())
        return PageResponse.html(templates.html(.credentials, page))
    }

    @Sendable
    func throttlePage(_ request: Request, context: PushwatchContext) async throws -> Response {
        let caller = try context.require(.alertsWrite)
        let asked = request.uri.queryParameters
        let page = ThrottlePage(
            try await actions.currentThrottles(),
            backlog: try await now.backlog(),
            provider: asked["provider"].flatMap { Provider(rawValue: String($0)) },
            back: ReturnPath(asked["back"].map(String.init)),
            reader: caller.name,
            now: clock()
        )
        return PageResponse.html(templates.html(.throttle, page))
    }

    @Sendable
    func throttle(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let caller = try context.require(.alertsWrite)
        let form = try await FormBody.read(request)
        try await actions.throttle(try ThrottleDraft(form), by: caller.name, at: clock())
        return PageResponse.seeOther(ReturnPath(form["back"]).path)
    }

    @Sendable
    func removeThrottle(_ request: Request, context: PushwatchContext) async throws -> Response {
        try SameOrigin.require(request)
        let caller = try context.require(.alertsWrite)
        let form = try await FormBody.read(request)
        guard let provider = form["provider"].flatMap({ Provider(rawValue: $0) }) else {
            throw Problem.invalid("Say of which provider the throttle is to be lifted.", pointer: "/provider")
        }
        try await actions.remove(provider, app: form["app"] ?? "", by: caller.name, at: clock())
        return PageResponse.seeOther(ReturnPath(form["back"]).path)
    }
}
