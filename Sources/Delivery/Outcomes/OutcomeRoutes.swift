package import HTTPServer
import HTTPTypes
import Hummingbird
import ServiceKit
import ServiceLifecycle

/// `GET /sends/outcomes`: what became of sends, in one order, to be read on from a cursor.
package struct OutcomeRoutes: Sendable {
    /// How long a request may wait for the next outcome.
    private static let longestWait = 30
    /// How long a request searches for an outcome that matches, unless it may wait longer.
    private static let longestSearch = Duration.seconds(2)
    /// How often it looks meanwhile.
    private static let interval = Duration.milliseconds(250)

    private let stream: OutcomeStream
    private let clock: any Clock<Duration>

    package init(stream: OutcomeStream, clock: any Clock<Duration> = ContinuousClock()) {
        self.stream = stream
        self.clock = clock
    }

    package func add(to router: HTTPRouter) {
        router.get("/sends/outcomes", .scope(.sendsRead)) { request, _ in try await read(request) }
    }

    private func read(_ request: Request) async throws -> Response {
        let parameters = try OutcomeParameters(request)
        let asLines = request.headers[.accept].map { $0.contains("application/x-ndjson") } ?? false
        let cursor = if let after = parameters.after { after } else { try await stream.end() }
        var page = OutcomeStream.Page(outcomes: [], next: cursor)
        let elapsed = Self.elapsed(by: clock)
        while true {
            // Waiting is no work: the time for a request's statements begins with each look.
            WorkDeadline.current?.restart()
            let before = page.next
            do {
                page = try await stream.page(after: before, parameters.filter, limit: parameters.limit)
            } catch let error as OutcomeStream.CursorAhead {
                throw Problem.badRequest(error.description, code: "cursor_ahead")
            }
            // What was searched did not match: the search continues with what follows.
            let isAtEnd = page.next == before
            let limit = isAtEnd ? parameters.wait : max(parameters.wait, Self.longestSearch)
            let time = elapsed()
            if !page.outcomes.isEmpty || Task.isShuttingDownGracefully || time >= limit { break }
            // A long search leaves the database to others in between.
            if isAtEnd || time >= Self.longestSearch { try await clock.sleep(for: Self.interval) }
        }
        return try response(page, asLines: asLines)
    }

    /// The time since this call.
    private static func elapsed(by clock: some Clock<Duration>) -> () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    private func response(_ page: OutcomeStream.Page, asLines: Bool) throws -> Response {
        var headers: HTTPFields = [:]
        headers[.nextCursor] = page.next.text
        let body: String
        if asLines {
            headers[.contentType] = "application/x-ndjson"
            body = page.outcomes.map { $0.text + "\n" }.joined()
        } else {
            headers[.contentType] = "application/json"
            body = JSONValue.object(["outcomes": .array(page.outcomes), "next": .string(page.next.text)]).text
        }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: body)))
    }

    /// The query of a request.
    private struct OutcomeParameters {
        /// Nil: `now`.
        var after: OutcomeCursor? = .start
        var filter: OutcomeStream.Filter
        var limit: Int
        var wait = Duration.zero

        init(_ request: Request) throws(Problem) {
            let query = try request.query("after", "limit", "wait", "sendId", "app", "author")
            if let text = query["after"] {
                after = OutcomeCursor(String(text))
                guard after != nil || text == "now" else {
                    throw .badRequest(
                        "`after` is the `cursor` of an outcome, the `next` of a response, or `now`.",
                        code: "invalid_parameter"
                    )
                }
            }
            limit = try query.limit(standard: 100, maximum: 1000)
            if let text = query["wait"] {
                guard let seconds = Int(text), (0...OutcomeRoutes.longestWait).contains(seconds) else {
                    throw .badRequest("`wait` is a number of seconds from 0 to \(OutcomeRoutes.longestWait).", code: "invalid_parameter")
                }
                wait = .seconds(seconds)
            }
            filter = OutcomeStream.Filter(
                sendId: query["sendId"].map(String.init),
                apps: query["app"].map { [String($0)] },
                authors: query["author"].map { [String($0)] }
            )
        }
    }
}

extension HTTPField.Name {
    fileprivate static var nextCursor: HTTPField.Name { HTTPField.Name("X-Next-Cursor")! }
}
