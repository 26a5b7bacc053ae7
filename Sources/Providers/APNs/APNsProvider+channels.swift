import HTTPClient
package import PushContract

extension APNsProvider: BroadcastProvider {
    package func createChannel(
        _ storage: BroadcastChannel.Storage,
        in scope: BroadcastScope,
        now: Timestamp
    ) async -> ChannelResult<BroadcastChannel> {
        await manage(scope, now: now, APNsChannelRequest.create(storage, app: scope.app, base: channelBase(scope))) { response in
            response.header("apns-channel-id").flatMap { APNsChannelRules.isId($0) ? BroadcastChannel(id: $0, storage: storage) : nil }
        }
    }

    package func deleteChannel(_ id: String, in scope: BroadcastScope, now: Timestamp) async -> ChannelResult<Void> {
        let result: ChannelResult<Void> = await manage(
            scope,
            channel: id,
            now: now,
            APNsChannelRequest.delete(id, app: scope.app, base: channelBase(scope))
        ) { _ in () }
        if case .failure(let refusal) = result, refusal.outcome.providerErrorCode == "ChannelNotRegistered" { return .success(()) }
        return result
    }

    package func listChannels(in scope: BroadcastScope, now: Timestamp) async -> ChannelResult<[String]> {
        await manage(scope, now: now, APNsChannelRequest.list(app: scope.app, base: channelBase(scope))) { APNsChannelRequest.ids(in: $0) }
    }

    package func broadcast(
        _ push: LiveActivityPush,
        to channel: BroadcastChannel,
        in scope: BroadcastScope,
        attemptId: String,
        now: Timestamp
    ) async -> PushOutcome {
        let body: [UInt8]
        do throws(PushError) {
            try APNsChannelRules.check(app: scope.app)
            body = try APNsChannelRules.payload(push, channel: channel)
        } catch {
            return .rejectedLocally(error)
        }
        guard let base = configuration.endpoints[scope.environment] else { return noEndpoint(scope) }
        var request = APNsChannelRequest.send(push, body, to: channel, app: scope.app, base: base)
        request.headers.append("apns-request-id", APNsMessageId.derive(from: attemptId), isUnique: true)
        let outcome = await perform(request, now: now).outcome
        metrics.note(outcome)
        return outcome
    }

    /// One management request.
    /// - Parameter read: Reads the answer; nil if it is not what Apple documents.
    private func manage<Value>(
        _ scope: BroadcastScope,
        channel: String? = nil,
        now: Timestamp,
        _ request: OutboundRequest,
        read: (OutboundResponse) -> Value?
    ) async -> ChannelResult<Value> {
        guard configuration.channelEndpoints[scope.environment] != nil else { return .failure(.init(outcome: noEndpoint(scope))) }
        do throws(PushError) {
            try APNsChannelRules.check(app: scope.app)
            if let channel { try APNsChannelRules.check(channel: channel) }
        } catch {
            return .failure(ChannelRefusal(outcome: .rejectedLocally(error)))
        }
        let reply = await perform(request, now: now)
        guard let response = reply.response, (200..<300).contains(response.status) else {
            return .failure(ChannelRefusal(outcome: reply.outcome))
        }
        guard let value = read(response) else {
            let detail = "APNs answered \(response.status) to a channel request without what belongs in it."
            return .failure(.init(outcome: .failed(Classification(.unknown, retry: .never), detail: detail, httpStatus: response.status)))
        }
        return .success(value)
    }

    private func perform(_ request: OutboundRequest, now: Timestamp) async -> APNsExchange.Reply {
        var request = request
        request.timeout = configuration.timeout
        return await exchange.perform(request, now: now)
    }

    private func channelBase(_ scope: BroadcastScope) -> String { configuration.channelEndpoints[scope.environment] ?? "" }

    private func noEndpoint(_ scope: BroadcastScope) -> PushOutcome {
        .failed(Classification(.auth, retry: .afterFix), detail: "Not sent: there is no endpoint for \(scope.environment.rawValue).")
    }
}
