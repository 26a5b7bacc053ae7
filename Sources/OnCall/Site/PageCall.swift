import Audit
import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import PushContract

/// One request for a page: what the page is made from, who reads it, and when.
struct PageCall {
    static let unknownAlert = Problem.notFound("There is no alert with this id.")

    let request: Request
    let context: PushwatchContext
    let site: OnCallSite
    let templates: PageTemplates
    let now: Timestamp

    /// Empty on open pages.
    var reader: PageReader {
        PageReader(name: context.caller?.name ?? "", mayAcknowledge: context.caller?.scopes.contains(.alertsWrite) ?? false)
    }

    var name: String { reader.name }

    /// For what the form does, in the name of who sent it.
    func audit() throws -> AuditRecorder { AuditRecorder(try context.requireCaller(), at: now) }

    func html(_ template: PageTemplate, _ model: Any, status: HTTPResponse.Status = .ok) -> Response {
        PageResponse.html(templates.html(template, model), status: status)
    }

    func form() async throws -> [String: String] { try await FormBody.read(request) }

    func parameter(_ name: String) throws -> String { try context.parameters.require(name) }

    /// The alert of the path.
    func alertId() throws -> UUID {
        guard let id = UUID(uuidString: try parameter("id")) else { throw Self.unknownAlert }
        return id
    }
}
