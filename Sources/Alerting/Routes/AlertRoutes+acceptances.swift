import AlertRules
import Audit
import Foundation
import HTTPServer
import Hummingbird
import PushContract

extension AlertRoutes {
    /// Those that have not been undone.
    @Sendable
    func acceptances(_ request: Request, context: PushwatchContext) async throws -> JSONResponse<AcceptanceListDocument> {
        JSONResponse(AcceptanceListDocument(try await AcceptanceStore.current(on: pool)))
    }

    /// 201 with the acceptance; 200 with the first one when the alert was accepted before.
    @Sendable
    func accept(_ request: Request, context: PushwatchContext) async throws -> JSONResponse<AcceptanceDocument> {
        let caller = try context.requireCaller()
        _ = try request.requireContentType("application/json")
        let now = now()
        let wanted = try AcceptanceRequest.parse(try await bodies.read(request))
        let known = try await alert(context)
        if let problem = AcceptanceRequest.refusal(of: known, at: now) { throw problem }
        let recorder = AuditRecorder(caller, at: now)
        guard let accepted = try await AcceptanceStore.accept(known, reason: wanted.reason, recording: recorder, on: pool) else {
            guard let first = try await AcceptanceStore.current(of: known.id, on: pool) else {
                throw Problem.conflict("The acceptance of this alert was taken back at the same moment; ask again.", code: "taken_back")
            }
            return JSONResponse(AcceptanceDocument(first))
        }
        return JSONResponse(AcceptanceDocument(accepted), status: .created)
    }

    @Sendable
    func undoAcceptance(_ request: Request, context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        let id = try context.parameters.require("id")
        guard let uuid = UUID(uuidString: id),
            try await AcceptanceStore.undo(uuid, recording: AuditRecorder(caller, at: now()), on: pool) != nil
        else { throw Problem.notFound("There is no standing acceptance with this id.") }
        return Response(status: .noContent)
    }
}

/// The answer of `GET /acceptances`.
package struct AcceptanceListDocument: Encodable, Sendable {
    var acceptances: [AcceptanceDocument]

    package init(_ acceptances: [AcceptanceRecord]) { self.acceptances = acceptances.map(AcceptanceDocument.init) }
}

/// The answer of `POST /alerts/{id}/accept`.
package struct AcceptanceDocument: Encodable, Sendable {
    var id: String
    var alertId: String
    var rule: String
    var group: [String: String]
    var author: String
    var reason: String
    var acceptedAt: Timestamp
    /// Absent until the evaluator has applied it, within a minute.
    var effectiveFrom: Timestamp?

    package init(_ accepted: AcceptanceRecord) {
        id = accepted.id.uuidString.lowercased()
        alertId = accepted.alertId.uuidString.lowercased()
        rule = accepted.rule
        group = accepted.group.labels
        author = accepted.author
        reason = accepted.reason
        acceptedAt = accepted.acceptedAt
        effectiveFrom = accepted.effectiveFrom
    }
}
