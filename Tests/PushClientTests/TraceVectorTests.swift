import Foundation
import PushClient
import PushContract
import Testing

@Suite("Traces")
struct TraceVectorTests {
    static let traces = VectorFile.ids("lifecycle.trace")

    @Test("each stimulus has the contract's effects", arguments: traces)
    func trace(id: String) throws {
        try TraceRun.check(try #require(try VectorFile.load("lifecycle.trace").vectors.first { $0.id == id }))
    }

    @Test("T-08: the queue survives a restart as it was, with the operation's id and the token's hash and no token")
    func persists() throws {
        var run = TraceRun()
        for stimulus in ["launch", "session u1", "permission authorized", "token A"] {
            _ = try run.perform(stimulus, at: Timestamp(seconds: 0))
        }
        _ = try run.perform("answer op-1 offline", at: Timestamp(seconds: 1))
        let data = try JSONEncoder().encode(run.lifecycle)
        #expect(try JSONDecoder().decode(TokenLifecycle.self, from: data) == run.lifecycle)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("op-1") && text.contains(VectorToken.hash("A").rawValue) && !text.contains(VectorToken.raw("A")))
    }
}

/// A token lifecycle driven by the words of the trace vectors.
struct TraceRun {
    var lifecycle = TokenLifecycle()
    private var ids = 0

    static func check(_ vector: VectorFile.Vector) throws {
        var run = TraceRun()
        let (steps, effects) = (vector.input["steps"]?.array ?? [], vector.expect["effects"]?.array ?? [])
        #expect(!steps.isEmpty && steps.count == effects.count, "\(vector.id)")
        for (step, expected) in zip(steps, effects) {
            let stimulus = step["stimulus"]?.string ?? ""
            let found = try run.perform(stimulus, at: Timestamp(seconds: Int64(step["at"]?.int ?? 0)))
            #expect(found == expected.array.compactMap(\.string), "\(vector.id): after \(stimulus)")
        }
    }

    mutating func perform(_ text: String, at now: Timestamp) throws -> [String] {
        let words = text.split(separator: " ").map(String.init)
        if words[0] == "secret" {
            lifecycle.noteSecret(of: words[1], isKept: true)
            return []
        }
        var next = ids
        let before = Set(lifecycle.queue.operations.map(\.operationId))
        let effects = lifecycle.handle(try stimulus(words), at: now) {
            next += 1
            return "op-\(next)"
        }
        // An id that was made for something that waits already is used again.
        let made = lifecycle.queue.operations.map(\.operationId).filter { !before.contains($0) }
        ids = max(ids, made.compactMap { Int($0.dropFirst(3)) }.max() ?? ids)
        return effects.map { describe($0) }
    }

    private func stimulus(_ words: [String]) throws -> TokenLifecycle.Input {
        switch words[0] {
        case "launch": return .launch
        case "foreground": return .foreground
        case "session": return .sessionEstablished(uid: words[1])
        case "permission": return .permission(try #require(PushPermission(rawValue: words[1])))
        case "token": return .tokenCallback(VectorToken.hash(words[1]))
        case "online": return .connectivityUp
        case "signOut": return .signOut
        case "pushDisabled": return .pushDisabled
        case "pushEnabled": return .pushEnabled
        case "serverState": return .serverTokenState(VectorToken.hash(words[1]), try #require(ReasonCode(rawValue: words[2])))
        case "deviceUnknown": return .deviceUnknown
        case "restart": return .processRestart
        case "queue": return .queue(try VectorOperation.kind(words[1]), words.count > 2 ? VectorToken.hash(words[2]) : nil)
        case "answer": return .result(operationId: words[1], result(words))
        case "retry": return .retry(operationId: words.count > 1 ? words[1] : nil)
        case "discard": return .discard(operationId: words[1])
        case "tick": return .tick
        default: throw VectorFault(description: "unknown stimulus \(words[0])")
        }
    }

    private func result(_ words: [String]) -> OperationResult {
        guard let status = Int(words[2]) else { return .unanswered }
        let wait = words.dropFirst(3).compactMap(Int.init).first
        return .answered(status: status, code: words.dropFirst(3).first { Int($0) == nil }, retryAfter: wait)
    }

    private func describe(_ effect: TokenLifecycle.Effect) -> String {
        switch effect {
        case .askPermission: "askPermission"
        case .readPermission: "readPermission"
        case .askForToken: "askForToken"
        case .enqueued(let operation):
            (["enqueue", operation.operationId, operation.kind.name, operation.uid]
                + [operation.tokenHash.map(VectorToken.letter)].compactMap { $0 })
                .joined(separator: " ")
        case .attempt(let operation): "attempt \(operation.operationId) \(operation.attemptNumber)"
        case .success(let operation): "success \(operation.operationId)"
        case .needsAttention(let operation): "needsAttention \(operation.operationId)"
        case .cancelled(let operation): "cancel \(operation.operationId)"
        case .setLastSubmitted(let hash): "setLastSubmitted \(VectorToken.letter(hash))"
        case .endActivity(let subject, let instance): "endActivity \(subject.name)" + (instance.map { " \($0)" } ?? "")
        case .clearLocal: "clearLocal"
        }
    }
}
