package import HTTPServer
import Hummingbird
package import PushContract

/// `GET /matches` and `GET /live`: what is on, and how many follow it.
package struct OverviewRoutes: Sendable {
    private let matches: MatchOverviewStore
    private let subjects: SubjectOverviewStore
    private let now: @Sendable () -> Timestamp

    package init(
        matches: MatchOverviewStore,
        subjects: SubjectOverviewStore,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.matches = matches
        self.subjects = subjects
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.get("/matches", .scope(.sendsRead)) { _, _ in
            try JSONResponse(MatchList(matches: try await matches.matches(now: now()))).response()
        }
        router.get("/live", .scope(.sendsRead)) { request, _ in try await list(request) }
    }

    private func list(_ request: Request) async throws -> Response {
        let page = try SubjectPage(request, cursorParts: 2)
        var last: (Timestamp, String)?
        if page.after != ["", ""] {
            guard let startedAt = Timestamp(rfc3339: page.after[0]) else { throw SubjectPage.invalidCursor }
            last = (startedAt, page.after[1])
        }
        let lines = try await subjects.list(after: last, limit: page.limit + 1, now: now())
        let shown = Array(lines.prefix(page.limit))
        let next = lines.count > page.limit ? shown.last.map { SubjectPage.cursor($0.startedAt.rfc3339, $0.subject) } : nil
        return try JSONResponse(SubjectListDocument(subjects: shown.map(SubjectListDocument.Entry.init), next: next)).response()
    }
}

struct MatchList: Encodable, Sendable {
    var matches: [MatchOverviewStore.Entry]
}
