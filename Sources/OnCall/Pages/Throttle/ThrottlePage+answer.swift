import Delivery
import HTTPServer
import Hummingbird
import PushContract

extension ThrottlePage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let asked = call.request.uri.queryParameters
        let page = ThrottlePage(
            try await call.site.throttles.current(),
            backlog: try await call.site.sends.backlog(),
            provider: asked["provider"].flatMap { Provider(rawValue: String($0)) },
            app: asked["app"].flatMap { $0.isEmpty ? nil : String($0) },
            back: ReturnPath(asked["back"].map(String.init)),
            reader: call.name,
            now: call.now
        )
        return call.html(.throttle, page)
    }

    @Sendable
    static func throttle(_ call: PageCall) async throws -> Response {
        let form = try await call.form()
        try await call.site.actions.throttle(try ThrottleDraft(form), recording: try call.audit())
        return PageResponse.seeOther(ReturnPath(form["back"]).path)
    }

    @Sendable
    static func remove(_ call: PageCall) async throws -> Response {
        let form = try await call.form()
        guard let provider = form["provider"].flatMap({ Provider(rawValue: $0) }) else {
            throw Problem.invalid("Name the provider whose throttle is to be removed.", pointer: "/provider")
        }
        try await call.site.actions.remove(provider, app: form["app"] ?? "", recording: try call.audit())
        return PageResponse.seeOther(ReturnPath(form["back"]).path)
    }
}
