package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
import ServiceKit

/// `POST /sends`, `GET` and `DELETE /sends/{sendId}`, `GET /sends/backlog`.
package struct SendRoutes: Sendable {
    /// Sends in one request at most.
    static let batchLimit = 10_000

    private let store: SendStore
    private let enqueueService: EnqueueService
    private let dryRun: DryRun
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    package init(
        store: SendStore,
        enqueueService: EnqueueService,
        dryRun: DryRun,
        reader: BodyReader = BodyReader(),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.enqueueService = enqueueService
        self.dryRun = dryRun
        self.reader = reader
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.post("/sends", .scope(.sendsWrite), apps: .checked) { request, context in try await send(request, context) }
        router.get("/sends/backlog", .scope(.sendsRead)) { _, _ in try await backlog() }
        router.get("/sends/{sendId}", .scope(.sendsRead)) { request, context in try await show(request, context) }
        router.delete("/sends/{sendId}", .scope(.sendsWrite), apps: .checked) { _, context in try await cancel(context) }
    }

    private func send(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        _ = try request.requireContentType("application/json")
        let now = now()
        return try await reader.readJSON(request, keepsInfinity: true) { body throws(Problem) in
            try SendBatch(body, limit: SendRoutes.batchLimit, now: now)
        } use: { batch in
            if let request = batch.requests.first, request.validateOnly {
                return try JSONResponse(try await dryRun.run(request, apps: caller.apps, now: now)).response()
            }
            let post = SendPost(requests: batch.requests, requestId: context.requestId, author: caller.name, apps: caller.apps, now: now)
            let receipts = try await enqueueService.submit(post)
            return try SendBatchResponse(batch, receipts: receipts).response()
        }
    }

    private func show(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let sendId = try context.path("sendId")
        let query = try request.query("after", "limit")
        guard let after = Int64(query["after"] ?? "0"), after >= 0 else {
            throw Problem.badRequest("`after` is the `next` of the page before.", code: "invalid_parameter")
        }
        let limit = try query.limit(standard: StoredSend.pageLimit, maximum: StoredSend.pageLimit)
        guard let send = try await store.send(sendId, after: after, limit: limit) else { throw SendRoutes.unknown }
        return try JSONResponse(SendDocument(send)).response()
    }

    private func cancel(_ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        let sendId = try context.path("sendId")
        if caller.apps != .all {
            for app in try await store.apps(of: sendId) { try caller.apps.require(app) }
        }
        guard try await store.cancel(sendId, author: caller.name) != nil, let send = try await store.send(sendId) else {
            throw SendRoutes.unknown
        }
        return try JSONResponse(SendDocument(send)).response()
    }

    private func backlog() async throws -> Response {
        return try JSONResponse(BacklogDocument(try await store.backlog())).response()
    }

    private static let unknown = Problem.notFound("There is no send with this sendId.")
}
