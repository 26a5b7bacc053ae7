import Foundation
import PushClient
import PushContract
import Testing

@Suite("Traces of the whole client")
struct ClientTraceTests {
    static let traces = VectorFile.ids("client.trace")

    @Test("the client asks the server and the system for exactly what the contract says, in order", arguments: traces)
    func trace(id: String) async throws {
        try await ClientTraceRun.check(try #require(try VectorFile.load("client.trace").vectors.first { $0.id == id }))
    }
}

/// A client driven by the words of `client.trace` (docs/parity.md).
final class ClientTraceRun {
    private let bench = ClientBench()
    private var client: PushwatchClient
    private var answers: [(request: String, response: PushResponse?)] = []
    private var osVersion = "18.2"
    private var locale: String?
    private var seenCalls = 0
    private var seenEvents = 0
    private var seen = ScriptedSystem.State()

    init() {
        client = bench.client()
        bench.now = Timestamp(seconds: 0)
    }

    static func check(_ vector: VectorFile.Vector) async throws {
        let run = ClientTraceRun()
        let (steps, effects) = (vector.input["steps"]?.array ?? [], vector.expect["effects"]?.array ?? [])
        #expect(!steps.isEmpty && steps.count == effects.count, "\(vector.id)")
        for (step, expected) in zip(steps, effects) {
            let found = try await run.perform(step)
            #expect(found == expected.array.compactMap(\.string), "\(vector.id): after \(step["do"]?.string ?? "")")
        }
    }

    func perform(_ step: JSON) async throws -> [String] {
        bench.now = Timestamp(seconds: Int64(step["at"]?.int ?? 0))
        let words = (step["do"]?.string ?? "").split(separator: " ").map(String.init)
        if let found = try await look(words) { return found }
        if try !set(words, step) { try await act(words) }
        return news()
    }

    // MARK: The world

    private func set(_ words: [String], _ step: JSON) throws -> Bool {
        switch words[0] {
        case "permission": bench.system.now.permission = try #require(PushPermission(rawValue: words[1]))
        case "activities": bench.system.now.areActivitiesAllowed = words[1] == "allowed"
        case "requests": bench.system.now.allowsRequests = words[1] == "allowed"
        case "holds":
            if words.count > 2 {
                bench.system.now.startTokens[words[2]] = VectorToken.raw(words[1])
            } else {
                bench.system.now.startToken = VectorToken.raw(words[1])
            }
        case "shows": bench.system.now.activities = try words.dropFirst().map { try activity($0.split(separator: ",").map(String.init)) }
        case "boot": bench.boot = Int64(words[1]).map(Timestamp.init(seconds:))
        case "system": osVersion = words[1]
        case "locale": locale = words[1]
        case "answer":
            let body = try step["body"].map { Array(try JSONEncoder().encode($0)) } ?? []
            let response = Int(words[words.count - 1]).map { PushResponse(status: $0, body: body, retryAfter: step["retryAfter"]?.int) }
            answers.insert((words[1..<(words.count - 1)].joined(separator: " "), response), at: 0)
            let script = answers
            bench.transport.answer = { request in
                let line = request.method + " " + request.path
                if let answer = script.first(where: { $0.request == "*" || line.hasPrefix($0.request) }) { return answer.response }
                return request.method == "GET" ? PushResponse(status: 503) : ClientBench.registered(request)
            }
        default: return false
        }
        return true
    }

    /// `card,match,m1,1,100,U`: the system's id, `match` with its id or the type with its activityId, instance, content date, token.
    private func activity(_ parts: [String]) throws -> SystemActivity {
        func part(_ index: Int) -> String? { parts.count > index && parts[index] != "-" ? parts[index] : nil }
        return SystemActivity(
            activityId: parts[0],
            subject: parts[1] == "match" ? .match(parts[2]) : .custom(attributesType: parts[1], activityId: parts[2]),
            instance: part(3).flatMap(Int.init),
            contentDate: part(4).flatMap(Int64.init).map(Timestamp.init(seconds:)),
            updateToken: part(5).map(VectorToken.raw)
        )
    }

    // MARK: What happens

    private func act(_ words: [String]) async throws {
        switch words[0] {
        case "launch":
            client = bench.client(osVersion: osVersion, locale: locale)
            await client.launch()
        case "foreground": await client.foreground()
        case "signedIn": await client.signedIn(uid: words[1])
        case "signOut": await client.signOut()
        case "changed": await client.permissionChanged(try #require(PushPermission(rawValue: words[1])))
        case "pushDisabled": await client.setPushEnabled(false)
        case "pushEnabled": await client.setPushEnabled(true)
        case "online": await client.connectivityRestored()
        case "pushToken": await client.pushTokenReceived(VectorToken.raw(words[1]))
        case "startToken": await client.startTokenReceived(VectorToken.raw(words[1]), attributesType: words.count > 2 ? words[2] : nil)
        case "updateToken": await client.updateTokenReceived(VectorToken.raw(words[1]), activityId: words[2])
        case "appeared": await client.activityAppeared(try activity(words[1].split(separator: ",").map(String.init)))
        case "gone": await client.activityGone(words[1], isDismissed: words[2] == "user")
        case "follow":
            words.count > 2 ? await client.follow(words[1], startsHere: true) : await client.follow(ActivitySubject(name: words[1]))
        case "unfollow": await client.unfollow(ActivitySubject(name: words[1]))
        case "work": await client.work()
        case "retry": await client.retry(words[1])
        case "retryNow": await client.retryNow()
        case "discard": await client.discard(words[1])
        default: throw VectorFault(description: "unknown step \(words[0])")
        }
    }

    // MARK: What can be seen

    private func look(_ words: [String]) async throws -> [String]? {
        switch words[0] {
        case "bell": return [await client.followButton(of: ActivitySubject(name: words[1])).rawValue]
        case "followed": return await client.followed.map(\.name).sorted()
        case "operations": return await client.operations.map { "\($0.operationId) \($0.kind.name) \($0.state.rawValue)" }
        case "nextWork": return [await client.nextWork.map { "\($0.seconds)" } ?? "never"]
        default: return nil
        }
    }

    /// What the client did since the last step: requests, then what it asked of the system, then failures.
    private func news() -> [String] {
        let (sent, now, events) = (bench.transport.sent, bench.system.now, bench.events)
        defer { (seenCalls, seen, seenEvents) = (sent.count, now, events.count) }
        var lines = sent[seenCalls...].map(describe)
        lines += Array(repeating: "askPermission", count: now.prompts - seen.prompts)
        lines += Array(repeating: "askForPushToken", count: now.asked - seen.asked)
        lines += now.requested[seen.requested.count...].map { "request \($0.attributes.matchId) until \($0.staleDate.seconds)" }
        lines += now.ended[seen.ended.count...].map { "end \($0)" }
        return lines + events[seenEvents...].compactMap(describe)
    }

    private func describe(_ request: PushRequest) -> String {
        let credential = if case .session(let uid) = request.credential { uid } else { "secret" }
        let body = request.body.flatMap { try? JSONDecoder().decode(JSON.self, from: Data($0)) }
        return VectorToken.named("\(request.method) \(request.path) \(credential)" + (body.map { " \($0.line)" } ?? ""))
    }

    private func describe(_ event: ClientEvent) -> String? {
        switch event {
        case .attemptFailed(let operation, _, _, let reason):
            "failed \(operation.operationId) \(operation.attemptNumber) \(reason.rawValue)"
        case .needsAttention(let operation): "needsAttention \(operation.operationId)"
        case .activityNotStarted(let matchId): "notStarted \(matchId)"
        case .tokenMalformed: "malformed"
        case .readFailed, .stateUnreadable, .stateNotLoaded, .stateNotSaved, .secretNotSaved: nil
        }
    }
}
