import Foundation
import HTTPTypes
import Hummingbird
import LiveActivities
import Postgres
import Synchronization
import TestDatabase
import TestSupport
import Testing

@testable import Server

/// A vendor's server: the example's answer, with an entity tag.
private final class VendorServer: Sendable {
    struct Asked: Sendable {
        var customer: String?
        var tag: String?
    }

    let asked = Mutex<[Asked]>([])
    private let answer: Mutex<(body: String, tag: String)>

    init(_ body: String) { answer = Mutex((body, "\"1\"")) }

    func change(_ part: String, to replacement: String) {
        answer.withLock { $0 = ($0.body.replacing(part, with: replacement), $0.tag + "x") }
    }

    func running<Value: Sendable>(_ body: (_ url: String) async throws -> Value) async throws -> Value {
        let router = Router()
        router.get("fixtures") { [self] request, _ -> Response in
            let known = request.headers[.ifNoneMatch]
            asked.withLock { $0.append(Asked(customer: request.headers[.init("x-customer")!], tag: known)) }
            let (body, tag) = answer.withLock { $0 }
            if known == tag { return Response(status: .notModified, headers: [.eTag: tag]) }
            return Response(status: .ok, headers: [.eTag: tag], body: .init(byteBuffer: ByteBuffer(string: body)))
        }
        let (ports, listening) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { listening.yield($0.localAddress?.port ?? 0) },
            logger: .silent
        )
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            defer { group.cancelAll() }
            var iterator = ports.makeAsyncIterator()
            return try await body("http://127.0.0.1:\(await iterator.next() ?? 0)/fixtures")
        }
    }
}

extension WholeService {
    @Suite("Polled feeds")
    struct PolledFeedTests {
        @Test("a vendor's answer over HTTP is mapped; 304 confirms it, and a change is taken in")
        func vendor() async throws {
            let root = ProjectDirectory.root + "/matches"
            let vendor = VendorServer(try String(contentsOfFile: root + "/feed-answer.example.json", encoding: .utf8))
            try await vendor.running { url in
                let yaml = try String(contentsOfFile: root + "/feeds.example.yml", encoding: .utf8)
                    .replacing("https://vendor.example/v2/fixtures", with: url)
                let feeds = try ScoreFeed.read(SettingsFile(yaml: yaml, name: "feeds.yml")).filter { $0.mapping != nil }
                try await withServer(adjust: { $0.matchFeeds = feeds }) { server in
                    try await eventually("the match is known") { try await server.api.get("/matches/lantern-7").status == 200 }
                    let first = try await server.api.get("/matches/lantern-7")
                    #expect(first.text.contains("31") && (first.text.contains("Mill Street") || first.text.contains("MS")))
                    let confirmed = try await server.pool.query("SELECT confirmedAt::text FROM activeMatches")[0].decode(String.self)
                    try await eventually("304 confirms the state") {
                        try await server.pool.query("SELECT confirmedAt::text FROM activeMatches")[0].decode(String.self) > confirmed
                    }
                    let asked = vendor.asked.withLock { $0 }
                    #expect(asked.allSatisfy { $0.customer == "17" } && asked.map(\.tag).prefix(2) == [nil, "\"1\""])
                    vendor.change(#""rev": 118, "changed": 1795168800"#, to: #""rev": 119, "changed": 1795168830"#)
                    vendor.change(#""score": 31"#, to: #""score": 35"#)
                    try await eventually("the change is taken in") {
                        try await server.api.get("/matches/lantern-7").text.contains("35")
                    }
                }
            }
        }
    }
}
