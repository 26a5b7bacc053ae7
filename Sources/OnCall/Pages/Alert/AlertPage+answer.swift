import Alerting
import Delivery
import Foundation
import HTTPServer
import Hummingbird
import Logging

extension AlertPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let (site, now) = (call.site, call.now)
        let store = AlertPageStore(pool: site.pool, rules: site.rules, receivers: site.receivers, runbooks: site.runbooks)
        guard var data = try await store.read(try call.alertId(), now: now) else { throw PageCall.unknownAlert }
        data.throttles = try await site.throttles.current()
        let verdict = try await RulesStore.verdict(of: data.alert.id, on: site.pool)
        return call.html(.alert, AlertPage(data, verdict: verdict, reader: call.reader, now: now))
    }

    @Sendable
    static func acknowledge(_ call: PageCall) async throws -> Response {
        let id = try call.alertId()
        let form = try await call.form()
        let done = try await call.site.actions.acknowledge(id, recording: try call.audit())
        call.context.logger.info("alert acknowledged", metadata: ["alertId": "\(id.uuidString.lowercased())", "stillOpen": "\(done)"])
        // The page of an alert that ended meanwhile says so.
        return PageResponse.seeOther(form["back"] == "/" && done ? "/" : "/oncall/alerts/\(id.uuidString.lowercased())")
    }

    @Sendable
    static func mark(_ call: PageCall) async throws -> Response {
        let id = try call.alertId()
        guard let verdict = try await call.form()["verdict"], ["real", "noise"].contains(verdict) else {
            throw Problem.invalid("An alert is marked as real or as noise.", pointer: "/verdict")
        }
        guard try await call.site.actions.mark(id, verdict: verdict, recording: try call.audit()) else {
            throw PageCall.unknownAlert
        }
        return PageResponse.seeOther("/oncall/alerts/\(id.uuidString.lowercased())")
    }
}
