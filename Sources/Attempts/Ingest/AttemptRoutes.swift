import CoreMetrics
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract

/// `POST /attempts`, `GET /attempts`, `GET /attempts/{attemptId}`.
package final class AttemptRoutes: Sendable {
    private let ingestor: AttemptIngestor
    private let store: AttemptStore
    private let checkStore: AttemptStore
    private let parsers = AttemptParserPool()
    private let bodies: BodyReader
    private let userBodies = BodyReader(limits: BodyLimits(compressed: 512 << 10, inflated: 512 << 10))
    private let labels: LabelLimiter
    private let now: @Sendable () -> Timestamp

    /// The most items one request may hold.
    static let itemLimit = 5_000
    /// The same of an app's user.
    static let userItemLimit = 100
    /// For all of them: the labels of users must not be counted apart.
    static let userAuthor = "app users"

    /// - Parameters:
    ///   - store: what is read for GET requests.
    ///   - checkStore: what reports are checked against; on connections that no page and no GET request takes.
    package init(
        ingestor: AttemptIngestor,
        store: AttemptStore,
        checkStore: AttemptStore,
        bodies: BodyReader = BodyReader(),
        labels: LabelLimiter = LabelLimiter(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.ingestor = ingestor
        self.store = store
        self.checkStore = checkStore
        self.bodies = bodies
        self.labels = labels
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.post("attempts", .userOrScope(.attemptsWrite), apps: .checked, use: post)
        router.get("attempts", .scope(.attemptsRead), use: list)
        router.get("attempts/:attemptId", .scope(.attemptsRead), use: get)
    }

    @Sendable
    private func post(_ request: Request, context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        return try await post(
            request,
            requestId: context.requestId,
            author: caller.userId == nil ? caller.name : AttemptRoutes.userAuthor,
            rules: ReportRules(normalizes: caller.scopes.contains(.attemptsNormalize), user: caller.userId, apps: caller.apps)
        )
    }

    func post(_ request: Request, requestId: String, author: String = "", rules: ReportRules = ReportRules()) async throws -> Response {
        let type = try request.requireContentType("application/json", "application/x-ndjson")
        // Before a byte of the body is read: who is refused should not have had to send it.
        do throws(IngestRefusal) {
            try ingestor.checkAdmission(bodyBytes: request.headers.value(of: .contentLength).flatMap { Int($0) })
        } catch {
            throw Problem(error)
        }
        // What waits to be written is counted by the queue.
        var parsed = try await (rules.user == nil ? bodies : userBodies).read(request, padding: AttemptParser.padding) { body in
            try self.parse(body, asLines: type == "application/x-ndjson", rules)
        } use: { parsed in
            parsed
        }
        if let apps = rules.apps { try await refuseAttempts(ofOtherAppsThan: apps, in: &parsed) }
        IngestMetrics.rejected.increment(by: parsed.rejections.count)
        labels.mark(&parsed.batch, author: author)
        let results = parsed.batch.isEmpty ? [] : rules.visible(try await submit(parsed.batch))
        return try parsed.isSingle
            ? AttemptResponse.single(parsed, results, requestId: requestId)
            : AttemptResponse.batch(parsed, results)
    }

    /// A key that is limited to apps cannot take over another app's attempt by its id: neither advance it, nor see it in a conflict.
    private func refuseAttempts(ofOtherAppsThan apps: Set<String>, in parsed: inout AttemptParser.Parsed) async throws {
        let others = try await checkStore.keys(parsed.batch.records.map(\.key), ofOtherAppsThan: apps)
        guard !others.isEmpty else { return }
        let refused = parsed.batch.records.indices.filter { others.contains(parsed.batch.records[$0].key) }
        for index in refused {
            let attemptId = parsed.batch.string(parsed.batch.records[index][.attemptId])
            let fault = ReportRules.appNotAllowed(.attemptId, "`attemptId` is of another app's attempt", apps)
            parsed.rejections.append(.init(index: parsed.indices[index], attemptId: attemptId, fault: fault))
        }
        parsed.batch.remove(at: Set(refused))
        parsed.indices = parsed.indices.enumerated().filter { !refused.contains($0.offset) }.map(\.element)
    }

    /// - Parameter body: with padding.
    private func parse(_ body: [UInt8], asLines: Bool, _ rules: ReportRules) throws -> AttemptParser.Parsed {
        let length = body.count - AttemptParser.padding
        let window = AcceptanceWindow.live(now: now())
        let itemLimit = rules.user == nil ? AttemptRoutes.itemLimit : AttemptRoutes.userItemLimit
        do {
            return try body.withUnsafeBytes { bytes in
                try parsers.withParser(forBytes: length) { parser in
                    asLines
                        ? try parser.parseLines(bytes, length: length, window: window, rules: rules, itemLimit: itemLimit)
                        : try parser.parseDocument(bytes, length: length, window: window, rules: rules, itemLimit: itemLimit)
                }
            }
        } catch let fault as AttemptParser.BodyFault {
            throw Problem(fault)
        }
    }

    private func submit(_ batch: AttemptBatch) async throws -> [AttemptResult] {
        do {
            return try await ingestor.submit(batch)
        } catch let refusal as IngestRefusal {
            throw Problem(refusal)
        }
    }

    @Sendable
    private func get(_ request: Request, context: PushwatchContext) async throws -> JSONResponse<Attempt> {
        let id = try context.path("attemptId")
        guard let attempt = try await store.find(attemptId: id) else {
            throw Problem.notFound(
                "No attempt `\(id.prefix(200))` is known. Ids are kept for at least 8 days after receipt; older attempts are found by uid."
            )
        }
        return JSONResponse(attempt)
    }

    /// What a list answers: newest first.
    struct Listing: Encodable, Sendable {
        var attempts: [Attempt]
        /// Pass as `since`-bounded follow-up when more may exist: the listing was cut at `limit`.
        var truncated: Bool
    }

    @Sendable
    private func list(_ request: Request, context: PushwatchContext) async throws -> JSONResponse<Listing> {
        let query = try AttemptListQuery(request, now: now())
        let attempts = try await store.list(uid: query.uid, tokenHash: query.tokenHash, since: query.since, limit: query.limit + 1)
        return JSONResponse(Listing(attempts: Array(attempts.prefix(query.limit)), truncated: attempts.count > query.limit))
    }
}

extension Problem {
    init(_ refusal: IngestRefusal) {
        switch refusal {
        case .full: self = .overloaded()
        case .shuttingDown: self = .unavailable("This instance is shutting down. Send the request again.", retryAfter: .seconds(1))
        }
    }

    init(_ fault: AttemptParser.BodyFault) {
        switch fault {
        case .malformed(let reason):
            self = .malformedJSON("The body is not valid JSON: \(reason). Nothing was stored.")
        case .notAnObjectOrArray:
            self = .malformedJSON("The body must be one attempt (an object) or several (an array, or NDJSON lines). Nothing was stored.")
        case .empty:
            self = .invalid("The body holds no attempt. Send at least one.", code: "empty_batch", pointer: "")
        case .tooManyItems(let limit):
            self = Problem(
                status: .contentTooLarge,
                code: "too_many_items",
                title: "Too many items",
                detail: "A request may hold \(limit) attempts. Nothing was stored; send them in several requests."
            )
        }
    }
}
