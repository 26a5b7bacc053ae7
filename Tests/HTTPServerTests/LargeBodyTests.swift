import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite(.timeLimit(.minutes(1)))
struct LargeBodyTests {
    /// An array of one string.
    private func text(bytes: Int) -> [UInt8] {
        [UInt8](#"[""#.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: bytes - 4) + [UInt8](#""]"#.utf8)
    }

    private func request(_ body: [UInt8]) -> Request {
        let head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")
        return Request(head: head, body: .init(buffer: ByteBuffer(bytes: body)))
    }

    private func code(_ error: (any Error)?) -> String? { (error as? Problem)?.code }

    /// Threads of the cooperative pool run tasks alone.
    private static var isInTask: Bool { withUnsafeCurrentTask { $0 != nil } }

    @Test("a small body is parsed by its own task, a large one off the cooperative pool", arguments: [(0, true), (1, false)])
    func threads(more: Int, isInTask: Bool) async throws {
        let body = text(bytes: LargeBodyQueue.threshold + more)
        let parsedInTask = try await BodyReader().readJSON(request(body)) { _ in
            Self.isInTask
        } use: {
            $0
        }
        #expect(parsedInTask == isInTask)
    }

    /// How many bodies are parsed at a time.
    private final class Parsing: Sendable {
        private let counts = Mutex((now: 0, most: 0))

        var most: Int { counts.withLock { $0.most } }

        func begin() { counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }

        func end() { counts.withLock { $0.now -= 1 } }
    }

    @Test("large bodies are parsed one at a time, whichever reader they come from")
    func oneAtATime() async throws {
        let body = text(bytes: LargeBodyQueue.threshold + 1)
        let parsing = Parsing()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await BodyReader(budget: BodyBudget(bytes: 64 << 20)).read(request(body)) { bytes in
                        parsing.begin()
                        // Long enough for another one to begin meanwhile.
                        _ = bytes.count { $0 == 0 }
                        parsing.end()
                    } use: { _ in
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(parsing.most == 1)
    }

    @Test(
        "a body counts until what was made of it is done with: a small one once, a large one of JSON three times",
        arguments: [(0, 1), (1, 3)]
    )
    func budget(more: Int, times: Int) async throws {
        let bytes = LargeBodyQueue.threshold + more
        let budget = BodyBudget(bytes: 4 << 20)
        let reader = BodyReader(budget: budget)
        let used = try await reader.readJSON(request(text(bytes: bytes))) { _ in
        } use: { _ in
            budget.usedBytes
        }
        #expect(used == bytes * times)
        // A share goes with its task, which may end a moment after its answer.
        try await eventually("it is given back") { budget.usedBytes == 0 }
    }

    @Test("large bodies leave a part of the budget for small ones, also where their length is not announced")
    func small() async throws {
        let budget = BodyBudget(bytes: 1 << 20)
        let reader = BodyReader(budget: budget)
        @Sendable func refusal(bytes: Int) async -> String? {
            do {
                _ = try await reader.read(request(text(bytes: bytes)))
                return nil
            } catch {
                return code(error)
            }
        }
        try await reader.read(request(text(bytes: 800 << 10))) { _ in
        } use: { _ in
            #expect(await refusal(bytes: 200 << 10) == "overloaded")
            #expect(await refusal(bytes: 60 << 10) == nil)
        }
        #expect(await refusal(bytes: 800 << 10) == nil)
    }

    @Test("a large body that finds no space for what is made of it is 503, and is not parsed")
    func noSpace() async throws {
        let budget = BodyBudget(bytes: 2 << 20)
        let isParsed = Mutex(false)
        let error = await #expect(throws: Problem.self) {
            try await BodyReader(budget: budget).readJSON(request(text(bytes: LargeBodyQueue.threshold + 1))) { _ in
                isParsed.withLock { $0 = true }
            } use: { _ in
            }
        }
        #expect(code(error) == "overloaded")
        #expect(!isParsed.withLock { $0 })
        // A share goes with its task, which may end a moment after its answer.
        try await eventually("it is given back") { budget.usedBytes == 0 }
    }

    @Test("a large body may have so many values, of whatever kind, and no more")
    func values() async throws {
        let reader = BodyReader(limits: BodyLimits(values: 6))
        let space = String(repeating: " ", count: LargeBodyQueue.threshold)
        func count(_ json: String) async throws -> Int? {
            try await reader.readJSON(request([UInt8]((json + space).utf8))) {
                $0.elements?.count ?? 0
            } use: {
                $0
            }
        }
        #expect(try await count("[1,2,3,4,5]") == 5)
        #expect(try await count(#"[{"a":[1]},2,3]"#) == 3)
        for json in ["[1,2,3,4,5,6]", #"[{"a":1,"b":[]},3,4,5]"#, "[[[[[[1]]]]]]"] {
            let error = await #expect(throws: Problem.self) { try await count(json) }
            #expect(code(error) == "payload_too_large", "\(json)")
        }
        let small = try await reader.readJSON(request([UInt8]("[1,2,3,4,5,6,7]".utf8))) {
            $0.elements?.count ?? 0
        } use: {
            $0
        }
        #expect(small == 7)
    }
}
