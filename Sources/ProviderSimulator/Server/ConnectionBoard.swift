import NIOCore
import NIOHTTP2
import Synchronization

/// How the simulator's connections behave, whatever is sent over them.
package struct ConnectionConditions: Sendable, Hashable, Codable {
    /// SETTINGS_MAX_CONCURRENT_STREAMS. 1,000 have been seen at APNs, 100 at FCM.
    package var maxStreams = 1000
    /// One stream until the first request of the connection was accepted, as APNs with provider tokens.
    package var oneStreamUntilAuthorised = false
    /// New connections get a certificate that has expired.
    package var expiredCertificate = false
    /// New connections must show a client certificate, which provider tokens do without: they end with a TLS alert.
    package var requiresClientCertificate = false
    /// New connections are closed before anything is read.
    package var refusesConnections = false

    package init(
        maxStreams: Int = 1000,
        oneStreamUntilAuthorised: Bool = false,
        expiredCertificate: Bool = false,
        requiresClientCertificate: Bool = false,
        refusesConnections: Bool = false
    ) {
        self.maxStreams = maxStreams
        self.oneStreamUntilAuthorised = oneStreamUntilAuthorised
        self.expiredCertificate = expiredCertificate
        self.requiresClientCertificate = requiresClientCertificate
        self.refusesConnections = refusesConnections
    }
}

/// The open HTTP/2 connections, and what they are told by frames of their own. Safe from any thread.
final class ConnectionBoard: Sendable {
    private struct State {
        var conditions = ConnectionConditions()
        var open: [ObjectIdentifier: any Channel] = [:]
        var authorised: Set<ObjectIdentifier> = []
    }

    private let state = Mutex(State())

    var conditions: ConnectionConditions { state.withLock { $0.conditions } }

    /// The streams a new connection is granted.
    var firstStreams: Int {
        let conditions = conditions
        return conditions.oneStreamUntilAuthorised ? 1 : conditions.maxStreams
    }

    func set(_ conditions: ConnectionConditions) {
        let open = state.withLock { state in
            let hasChanged = state.conditions.maxStreams != conditions.maxStreams
            state.conditions = conditions
            return hasChanged ? Array(state.open.values) : []
        }
        for channel in open { grant(conditions.maxStreams, to: channel) }
    }

    func add(_ channel: any Channel) { state.withLock { $0.open[ObjectIdentifier(channel)] = channel } }

    func remove(_ channel: any Channel) {
        state.withLock { state in
            state.open[ObjectIdentifier(channel)] = nil
            state.authorised.remove(ObjectIdentifier(channel))
        }
    }

    /// A request on this connection was accepted.
    func authorise(_ channel: any Channel) {
        let streams = state.withLock { state -> Int? in
            guard state.conditions.oneStreamUntilAuthorised, state.authorised.insert(ObjectIdentifier(channel)).inserted else { return nil }
            return state.conditions.maxStreams
        }
        if let streams { grant(streams, to: channel) }
    }

    /// GOAWAY on every connection: what is under way is answered.
    func drain() {
        for channel in state.withLock({ Array($0.open.values) }) { drain(channel) }
    }

    func drain(_ channel: any Channel) { sayGoodbye(on: channel, lastStream: HTTP2StreamID.maxID) }

    /// GOAWAY that disowns all streams.
    func disown(_ channel: any Channel) { sayGoodbye(on: channel, lastStream: HTTP2StreamID.rootStream) }

    private func grant(_ streams: Int, to channel: any Channel) {
        let setting = HTTP2Setting(parameter: .maxConcurrentStreams, value: streams)
        channel.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: .settings(.settings([setting]))), promise: nil)
    }

    private func sayGoodbye(on channel: any Channel, lastStream: HTTP2StreamID) {
        let payload = HTTP2Frame.FramePayload.goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: nil)
        channel.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload), promise: nil)
    }
}
