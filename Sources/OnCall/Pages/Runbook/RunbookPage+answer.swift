import HTTPServer
import Hummingbird

extension RunbookPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let name = try call.parameter("name")
        guard let text = call.site.runbooks.text(named: name) else {
            throw Problem.notFound("There is no runbook of this name in the alerts directory.")
        }
        return call.html(.runbook, RunbookPage(name: name, markdown: text, person: call.name, now: call.now))
    }
}
