import Alerting
import Foundation
import HTTPClient
import HTTPTypes
import Hummingbird
import Logging
import Synchronization
import TestDatabase

/// A receiver over real HTTP: answers as scripted and keeps what it got.
final class Hook: Sendable {
    struct Got: Sendable {
        var headers: [String: String]
        var body: [UInt8]

        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:] }
        var status: String { json["status"] as? String ?? "?" }
    }

    struct Answer: Sendable {
        var status: Int
        var headers: [String: String] = [:]
        var body = ""
    }

    private let answers: Mutex<[Answer]>
    private let check: (@Sendable (Got) -> Answer)?
    private let received = Mutex<[Got]>([])
    /// Every message as it comes; for one listener.
    let messages: AsyncStream<Got>
    private let announce: AsyncStream<Got>.Continuation
    /// Ends with the first request to `/silent`, which is never answered.
    let silentRequest: AsyncStream<Void>
    fileprivate let announceSilent: AsyncStream<Void>.Continuation

    /// `answers` are used up in order; after them everything is 200.
    init(_ answers: [Answer] = []) {
        self.answers = Mutex(answers)
        check = nil
        (messages, announce) = AsyncStream.makeStream()
        (silentRequest, announceSilent) = AsyncStream.makeStream()
    }

    /// A fake that checks every message against the contract of the service that it replaces.
    init(checking check: @escaping @Sendable (Got) -> Answer) {
        answers = Mutex([])
        self.check = check
        (messages, announce) = AsyncStream.makeStream()
        (silentRequest, announceSilent) = AsyncStream.makeStream()
    }

    /// Until the connection ends.
    fileprivate func neverAnswer() async {
        announceSilent.finish()
        let (end, keepOpen) = AsyncStream<Void>.makeStream()
        for await _ in end {}
        keepOpen.finish()
    }

    var got: [Got] { received.withLock { $0 } }

    fileprivate func answer(_ got: Got) -> Answer {
        received.withLock { $0.append(got) }
        announce.yield(got)
        if let check { return check(got) }
        return answers.withLock { $0.isEmpty ? Answer(status: 200, body: "ok") : $0.removeFirst() }
    }
}

/// Runs `hook` on a free port of this machine.
func withHook<T: Sendable>(_ hook: Hook, _ body: @Sendable @escaping (String) async throws -> T) async throws -> T {
    let router = Router()
    router.post("hook") { request, _ in
        let buffer = try await request.body.collect(upTo: 1 << 20)
        let headers = Dictionary(request.headers.map { ($0.name.canonicalName, $0.value) }, uniquingKeysWith: { $1 })
        let answer = hook.answer(Hook.Got(headers: headers, body: Array(buffer: buffer)))
        var fields = HTTPFields()
        for (name, value) in answer.headers { fields[HTTPField.Name(name)!] = value }
        return Response(status: .init(code: answer.status), headers: fields, body: .init(byteBuffer: ByteBuffer(string: answer.body)))
    }
    router.post("silent") { _, _ in
        await hook.neverAnswer()
        return HTTPResponse.Status.noContent
    }
    let (ports, announce) = AsyncStream<Int>.makeStream()
    let application = Application(
        router: router,
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { announce.yield($0.localAddress?.port ?? 0) },
        logger: .silent
    )
    return try await withThrowingTaskGroup(of: T?.self) { group in
        group.addTask {
            try await application.run()
            return nil
        }
        group.addTask {
            var iterator = ports.makeAsyncIterator()
            let port = await iterator.next() ?? 0
            return try await body("http://127.0.0.1:\(port)/hook")
        }
        defer { group.cancelAll() }
        while let value = try await group.next() {
            if let value { return value }
        }
        throw CancellationError()
    }
}
