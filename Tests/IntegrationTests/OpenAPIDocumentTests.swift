import Foundation
import HTTPServer
import HTTPTypes
import Server
import Synchronization
import TestDatabase
import TestSupport
import Testing

/// `docs/openapi.yaml` against the routes that there are. What each answers is `make conformance`.
@Suite("The HTTP document")
struct OpenAPIDocumentTests {
    /// `GET /attempts/{attemptId}`, by the document's indentation.
    private static func documented() throws -> Set<String> {
        let text = try String(contentsOfFile: ProjectDirectory.root + "/docs/openapi.yaml", encoding: .utf8)
        var routes: Set<String> = []
        var path = ""
        for line in text.prefix(upTo: text.firstRange(of: "\ncomponents:")?.lowerBound ?? text.endIndex).split(separator: "\n") {
            if let match = line.wholeMatch(of: #/  (/\S*):/#) { path = String(match.1) }
            if let match = line.wholeMatch(of: #/    (get|put|post|delete|patch):/#) { routes.insert("\(match.1.uppercased()) \(path)") }
        }
        return routes
    }

    @Test("every route of the server is described, and nothing else is")
    func everyRoute() async throws {
        try await withDatabaseURL { database in
            let seen = Mutex<Set<String>>([])
            var hooks = PushwatchServer.Hooks()
            hooks.routes = { router in
                let routes = router.routes.filter { $0.method != .head }.map { route in
                    let path = route.path.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
                    return "\(route.method.rawValue) /\(path.joined(separator: "/"))"
                }
                seen.withLock { $0 = Set(routes) }
            }
            try await withServer(.bare(database), hooks: hooks) { url in
                try await eventually("the router is there") { seen.withLock { !$0.isEmpty } }
            }
            let (routes, documented) = (seen.withLock { $0 }, try Self.documented())
            #expect(routes.count > 60)
            #expect(routes.subtracting(documented).sorted() == [], "routes that docs/openapi.yaml does not describe")
            #expect(documented.subtracting(routes).sorted() == [], "described, but there is no such route")
        }
    }
}
