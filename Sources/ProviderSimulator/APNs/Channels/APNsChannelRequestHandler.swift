import PushContract
import ServiceKit

/// Decides on channel management and broadcasts: the checks, the registered channels, then the faults.
///
/// Apple manages channels at hosts of their own; here the paths alone distinguish them. A fault rule's `tokens` name channels.
struct APNsChannelRequestHandler: Sendable {
    let requestHandler: APNsRequestHandler
    /// Channels an app may have.
    let limit: Int

    private var state: SimulatorState { requestHandler.state }

    /// Nil when the request is not about channels.
    func decide(_ request: SimulatedRequest, now: Timestamp, identifiers: ResponseIdentifiers) -> Verdict? {
        let channel = request.header("apns-channel-id")
        do throws(APNsRefusal) {
            guard let asked = try ChannelRequest(request) else { return nil }
            try authorize(request, for: asked.bundle, now: now)
            let perform = try plan(asked, request, identifiers: identifiers)
            return faulted(token: channel, request, now: now, identifiers: identifiers, perform)
        } catch {
            return Verdict(refused(error, request, identifiers), token: channel)
        }
    }

    private func authorize(_ request: SimulatedRequest, for bundle: String, now: Timestamp) throws(APNsRefusal) {
        let provider = try requestHandler.provider(of: request)
        try APNsAuthorization.checkAge(of: provider, now: now)
        guard let bundles = provider.bundles, !bundles.contains(bundle) else { return }
        throw APNsRefusal(.topicMismatch, "team \(provider.teamId) does not own \(bundle)")
    }

    /// Checks everything; what it returns changes the channels and cannot fail.
    private func plan(
        _ asked: ChannelRequest,
        _ request: SimulatedRequest,
        identifiers: ResponseIdentifiers
    ) throws(APNsRefusal) -> () -> SimulatedResponse {
        if asked.operation == .create {
            let channel = try newChannel(request, bundle: asked.bundle)
            return {
                let id = channelId(identifiers)
                state.with { $0.channels.add(channel, id: id, of: asked.bundle) }
                return answer(201, request, identifiers, more: [.init("apns-channel-id", id)])
            }
        }
        if asked.operation == .list {
            let ids = state.with { $0.channels.ids(of: asked.bundle) }
            return { answer(200, request, identifiers, body: ["channels": .array(ids.map(JSONValue.string))]) }
        }
        let (id, channel) = try known(request, bundle: asked.bundle)
        switch asked.operation {
        case .delete:
            return {
                _ = state.with { $0.channels.remove(id, of: asked.bundle) }
                return answer(204, request, identifiers)
            }
        case .send:
            try BroadcastChecks.check(request, to: channel)
            return { answer(200, request, identifiers, more: [.init("apns-unique-id", identifiers.unique)]) }
        default:
            let body: JSONValue = [
                "message-storage-policy": .integer(Int64(channel.storagePolicy)), "push-type": .string(channel.pushType),
            ]
            return { answer(200, request, identifiers, body: body) }
        }
    }

    private func newChannel(_ request: SimulatedRequest, bundle: String) throws(APNsRefusal) -> SimulatedChannel {
        guard let body = JSONValue(bytes: request.body), body.members != nil else {
            throw APNsRefusal(.badRequestPayload, "the body must be a JSON object")
        }
        guard let pushType = body["push-type"]?.string else { throw APNsRefusal(.missingPushType, "push-type is missing") }
        guard pushType == "LiveActivity" else { throw APNsRefusal(.invalidPushType, "push-type must be LiveActivity") }
        guard let policy = body["message-storage-policy"]?.integer, (0...1).contains(policy) else {
            throw APNsRefusal(.badRequestPayload, "message-storage-policy must be the number 0 or 1")
        }
        guard state.with({ $0.channels.count(of: bundle) }) < limit else {
            throw APNsRefusal(.cannotCreateChannelConfig, "\(bundle) has \(limit) channels, as many as it may")
        }
        return SimulatedChannel(storagePolicy: Int(policy), pushType: pushType)
    }

    private func known(_ request: SimulatedRequest, bundle: String) throws(APNsRefusal) -> (String, SimulatedChannel) {
        guard let id = request.header("apns-channel-id"), !id.isEmpty else {
            throw APNsRefusal(.missingChannelId, "apns-channel-id is missing")
        }
        guard let channel = state.with({ $0.channels.channel(id, of: bundle) }) else {
            throw APNsRefusal(.channelNotRegistered, "\(bundle) has no such channel")
        }
        return (id, channel)
    }

    /// Faults apply before anything changes.
    private func faulted(
        token: String?,
        _ request: SimulatedRequest,
        now: Timestamp,
        identifiers: ResponseIdentifiers,
        _ perform: () -> SimulatedResponse
    ) -> Verdict {
        guard let rule = state.with({ $0.faults.take(provider: .apns, token: token?.lowercased(), now: now) }) else {
            return Verdict(perform(), token: token)
        }
        let accepted = rule.effect == .delayOnly ? perform() : answer(200, request, identifiers)
        return Verdict(rule, accepted: accepted, token: token) { fault in
            var body: JSONMembers = [:]
            body["reason"] = fault.reason.map(JSONValue.string)
            var answer = answer(fault.status, request, identifiers, body: body.isEmpty ? nil : .object(body))
            answer.reason = fault.reason
            return answer
        }
    }

    private func refused(_ refusal: APNsRefusal, _ request: SimulatedRequest, _ identifiers: ResponseIdentifiers) -> SimulatedResponse {
        let reason = refusal.reason
        var answer = answer(
            reason.status,
            request,
            identifiers,
            more: [.init("x-simulator-detail", refusal.detail)],
            body: ["reason": .string(reason.rawValue)]
        )
        answer.reason = reason.rawValue
        return answer
    }

    private func answer(
        _ status: Int,
        _ request: SimulatedRequest,
        _ identifiers: ResponseIdentifiers,
        more: [SimulatedResponse.Header] = [],
        body: JSONValue? = nil
    ) -> SimulatedResponse {
        let id = request.header("apns-request-id") ?? identifiers.message
        return SimulatedResponse(status: status, headers: [.init("apns-request-id", id)] + more, body: body?.bytes ?? [])
    }

    /// Apple's are base64 text of no fixed length; this one has 24 characters.
    private func channelId(_ identifiers: ResponseIdentifiers) -> String { "\(identifiers.unique.prefix(22).lowercased())==" }
}
