import HTTPServer
import Providers
import PushContract
import Synchronization

/// The channels of a scripted APNs: as Apple keeps them, with answers as told.
final class ScriptedChannels: Sendable {
    /// One request about a channel, or to one.
    struct Call: Sendable {
        var operation: String
        var id: String
        var push: LiveActivityPush?
        var attemptId = ""

        var state: String { String(decoding: push?.contentState ?? [], as: UTF8.self) }
        var isEnd: Bool { push?.event.name == "end" }
    }

    private struct State {
        var made = 0
        var ids: [BroadcastScope: Set<String>] = [:]
        var calls: [Call] = []
        var refusals: [String: [PushOutcome]] = [:]
    }

    private let state = Mutex(State())

    var calls: [Call] { state.withLock { $0.calls } }
    func calls(_ operation: String) -> [Call] { calls.filter { $0.operation == operation } }
    var ids: Set<String> { state.withLock { $0.ids.values.reduce(into: []) { $0.formUnion($1) } } }
    func forget() { state.withLock { $0.calls = [] } }

    /// The next answers to an operation.
    func answer(_ operation: String, _ outcomes: PushOutcome...) { state.withLock { $0.refusals[operation, default: []] += outcomes } }

    /// Made by nobody here, or taken away by somebody else.
    func add(_ id: String, to scope: BroadcastScope) { state.withLock { _ = $0.ids[scope, default: []].insert(id) } }
    func removeAll() { state.withLock { $0.ids = [:] } }

    fileprivate func call(_ call: Call) -> PushOutcome? {
        state.withLock { state in
            state.calls.append(call)
            guard var answers = state.refusals[call.operation], !answers.isEmpty else { return nil }
            let answer = answers.removeFirst()
            state.refusals[call.operation] = answers
            return answer
        }
    }

    fileprivate func make(in scope: BroadcastScope) -> String {
        state.withLock { state in
            state.made += 1
            let id = "channel-\(state.made)=="
            state.ids[scope, default: []].insert(id)
            return id
        }
    }

    fileprivate func remove(_ id: String, from scope: BroadcastScope) { state.withLock { _ = $0.ids[scope]?.remove(id) } }
    fileprivate func ids(of scope: BroadcastScope) -> Set<String> { state.withLock { $0.ids[scope] ?? [] } }
}

extension ScriptedAPNs: BroadcastProvider {
    func createChannel(
        _ storage: BroadcastChannel.Storage,
        in scope: BroadcastScope,
        now: Timestamp
    ) async -> ChannelResult<BroadcastChannel> {
        if let refusal = channels.call(.init(operation: "create", id: "")) { return .failure(ChannelRefusal(outcome: refusal)) }
        return .success(BroadcastChannel(id: channels.make(in: scope), storage: storage))
    }

    func deleteChannel(_ id: String, in scope: BroadcastScope, now: Timestamp) async -> ChannelResult<Void> {
        if let refusal = channels.call(.init(operation: "delete", id: id)) { return .failure(ChannelRefusal(outcome: refusal)) }
        channels.remove(id, from: scope)
        return .success(())
    }

    func listChannels(in scope: BroadcastScope, now: Timestamp) async -> ChannelResult<[String]> {
        if let refusal = channels.call(.init(operation: "list", id: "")) { return .failure(ChannelRefusal(outcome: refusal)) }
        return .success(channels.ids(of: scope).sorted())
    }

    func broadcast(
        _ push: LiveActivityPush,
        to channel: BroadcastChannel,
        in scope: BroadcastScope,
        attemptId: String,
        now: Timestamp
    ) async -> PushOutcome {
        let call = ScriptedChannels.Call(operation: "broadcast", id: channel.id, push: push, attemptId: attemptId)
        if let refusal = channels.call(call) { return refusal }
        guard channels.ids(of: scope).contains(channel.id) else { return .apns(400, "ChannelNotRegistered") }
        return .sent(messageId: "b", httpStatus: 200, latency: .milliseconds(2))
    }
}
