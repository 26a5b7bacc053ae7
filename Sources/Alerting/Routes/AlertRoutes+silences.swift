import Audit
import Foundation
import HTTPServer
import Hummingbird
import PushContract

extension AlertRoutes {
    /// Those that have not ended.
    @Sendable
    func silences(_ request: Request, context: PushwatchContext) async throws -> JSONResponse<SilenceListDocument> {
        let silences = try await SilenceStore.current(at: now(), on: pool)
        return JSONResponse(SilenceListDocument(silences))
    }

    /// 201 with the silence and the firing alerts it mutes.
    @Sendable
    func silence(_ request: Request, context: PushwatchContext) async throws -> JSONResponse<SilenceCreatedDocument> {
        let caller = try context.requireCaller()
        _ = try request.requireContentType("application/json")
        let now = now()
        let silence = try SilenceRequest.parse(try await bodies.read(request)).silence(author: caller.name, now: now)
        try await SilenceStore.insert(silence, recording: AuditRecorder(caller, at: now), on: pool)
        let matched = try await AlertStore.open(on: pool).filter { silence.matches($0.labels) }
        return JSONResponse(SilenceCreatedDocument(silence, matched: matched), status: .created)
    }

    @Sendable
    func expireSilence(_ request: Request, context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        let id = try context.parameters.require("id")
        guard let uuid = UUID(uuidString: id),
            try await SilenceStore.end(uuid, recording: AuditRecorder(caller, at: now()), on: pool)
        else { throw Problem.notFound("There is no current silence with this id.") }
        return Response(status: .noContent)
    }
}

/// The answer of `GET /silences`.
package struct SilenceListDocument: Encodable, Sendable {
    var silences: [SilenceDocument]

    package init(_ silences: [AlertSilence]) { self.silences = silences.map(SilenceDocument.init) }
}

package struct SilenceCreatedDocument: Encodable, Sendable {
    var silence: SilenceDocument
    /// Ids of the alerts that fire now and match.
    var matches: [String]

    package init(_ silence: AlertSilence, matched: [Alert]) {
        self.silence = SilenceDocument(silence)
        matches = matched.map { $0.id.uuidString.lowercased() }
    }
}

struct SilenceDocument: Encodable, Sendable {
    var id: String
    var matchers: [SilenceMatcher]
    var startsAt: Timestamp
    var endsAt: Timestamp
    var author: String
    var reason: String
    var createdAt: Timestamp

    init(_ silence: AlertSilence) {
        id = silence.id.uuidString.lowercased()
        matchers = silence.matchers
        startsAt = silence.startsAt
        endsAt = silence.endsAt
        author = silence.author
        reason = silence.reason
        createdAt = silence.createdAt
    }
}
