import Audit
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
import ServiceKit

/// `GET /audiences`, `GET`, `PUT` and `DELETE /audiences/{audienceId}`, `POST` and `DELETE /audiences/{audienceId}/members`.
package struct AudienceRoutes: Sendable {
    /// Uids in one request at most; a larger audience is added to in parts.
    package static let limit = 100_000

    private let store: AudienceStore
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    package init(
        store: AudienceStore,
        reader: BodyReader = BodyReader(),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.reader = reader
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.get("/audiences", .scope(.sendsRead)) { _, context in
            return try JSONResponse(AudiencesDocument(audiences: try await store.list().map(AudienceDocument.init))).response()
        }
        router.get("/audiences/{audienceId}", .scope(.sendsRead)) { _, context in
            return try answer(try await store.find(try context.path("audienceId")))
        }
        router.put("/audiences/{audienceId}", .scope(.sendsWrite)) { request, context in try await change(.replace, request, context) }
        router.post("/audiences/{audienceId}/members", .scope(.sendsWrite)) { request, context in try await change(.add, request, context) }
        router.delete("/audiences/{audienceId}/members", .scope(.sendsWrite)) { request, context in
            try await change(.remove, request, context)
        }
        router.delete("/audiences/{audienceId}", .scope(.sendsWrite)) { _, context in try await delete(context) }
    }

    private func delete(_ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        let id = try context.path("audienceId")
        guard try await store.delete(id, recording: AuditRecorder(caller, at: now())) else { throw AudienceRoutes.unknown }
        return Response(status: .noContent)
    }

    private func change(_ change: AudienceStore.Change, _ request: Request, _ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        let id = try context.path("audienceId")
        guard (1...200).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem.badRequest("An audienceId must have 1 to 200 visible ASCII characters, without spaces.")
        }
        _ = try request.requireContentType("application/json")
        return try await reader.readJSON(request) { body throws(Problem) in
            var fields = try JSONFields(body)
            let uids = try fields.required("uids", JSONFields.list(of: JSONFields.string(1...256), 0...AudienceRoutes.limit))
            try fields.finish()
            return uids
        } use: { uids in
            try answer(try await store.change(change, id, uids: uids, recording: AuditRecorder(caller, at: now())))
        }
    }

    private func answer(_ audience: Audience?) throws -> Response {
        guard let audience else { throw AudienceRoutes.unknown }
        return try JSONResponse(AudienceDocument(audience)).response()
    }

    private static let unknown = Problem.notFound("There is no audience with this audienceId. Make it with PUT /audiences/{audienceId}.")
}

/// An audience as the API shows it: never its members.
struct AudienceDocument: Encodable, Sendable {
    var audienceId: String
    var members: Int
    var author: String
    var createdAt: Timestamp
    var changedAt: Timestamp

    init(_ audience: Audience) {
        audienceId = audience.id
        members = audience.members
        author = audience.author
        createdAt = audience.createdAt
        changedAt = audience.changedAt
    }
}

struct AudiencesDocument: Encodable, Sendable {
    var audiences: [AudienceDocument]
}
