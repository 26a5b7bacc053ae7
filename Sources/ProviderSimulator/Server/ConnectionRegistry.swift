import NIOCore
import NIOHTTP2
import Synchronization

/// The open HTTP/2 connections, and the frames that notify them. Safe from any thread.
final class ConnectionRegistry: Sendable {
    private struct Connection {
        let channel: any Channel
        var isAuthorised = false
        /// The last stream that was begun, and how many are under way.
        var lastStream = HTTP2StreamID.rootStream
        var running = 0
        /// It was ended by GOAWAY; nothing that begins now is processed.
        var hasEnded = false
    }

    private struct State {
        var conditions = ConnectionConditions()
        var open: [ObjectIdentifier: Connection] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    var conditions: ConnectionConditions { state.withLock { $0.conditions } }

    /// The simulator stops: a connection that comes now is turned away.
    var isClosed: Bool { state.withLock { $0.isClosed } }
    func close() { state.withLock { $0.isClosed = true } }

    /// Requests under way; nil when it does not speak HTTP/2, or not yet.
    func running(on channel: any Channel) -> Int? { state.withLock { $0.open[ObjectIdentifier(channel)]?.running } }

    /// The streams a new connection is granted.
    var firstStreams: Int {
        let conditions = conditions
        return conditions.oneStreamUntilAuthorised ? 1 : conditions.maxStreams
    }

    func set(_ conditions: ConnectionConditions) {
        let open = state.withLock { state in
            let hasChanged = state.conditions.maxStreams != conditions.maxStreams
            state.conditions = conditions
            return hasChanged ? state.open.values.map(\.channel) : []
        }
        for channel in open { grant(conditions.maxStreams, to: channel) }
    }

    func add(_ channel: any Channel) {
        state.withLock { state in
            if state.open[ObjectIdentifier(channel)] == nil { state.open[ObjectIdentifier(channel)] = Connection(channel: channel) }
        }
    }

    func remove(_ channel: any Channel) { state.withLock { $0.open[ObjectIdentifier(channel)] = nil } }

    /// A stream was begun; on the connection's event loop. Whether it is processed: not after GOAWAY.
    func begin(_ stream: any Channel) -> Bool {
        guard let connection = stream.parent, let id = try? stream.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID) else {
            return true
        }
        let key = ObjectIdentifier(connection)
        return state.withLock { state in
            // Connections are added by the task that reads their streams, which may come later than the first of these.
            var known = state.open[key] ?? Connection(channel: connection)
            guard !known.hasEnded else { return false }
            known.lastStream = id
            known.running += 1
            state.open[key] = known
            return true
        }
    }

    /// A stream that was processed is over. The last one of an ended connection takes it along.
    func end(streamOf connection: any Channel) {
        let isOver = state.withLock { state -> Bool in
            let key = ObjectIdentifier(connection)
            state.open[key]?.running -= 1
            return state.open[key].map { $0.hasEnded && $0.running == 0 } ?? false
        }
        if isOver { connection.close(promise: nil) }
    }

    /// A request on this connection was accepted.
    func authorise(_ channel: any Channel) {
        let streams = state.withLock { state -> Int? in
            let key = ObjectIdentifier(channel)
            guard state.conditions.oneStreamUntilAuthorised, state.open[key]?.isAuthorised == false else { return nil }
            state.open[key]?.isAuthorised = true
            return state.conditions.maxStreams
        }
        if let streams { grant(streams, to: channel) }
    }

    /// GOAWAY on every connection: what is under way is answered, what comes later is not read.
    func drain() {
        for channel in state.withLock({ $0.open.values.map(\.channel) }) { drain(channel) }
    }

    func drain(_ channel: any Channel) {
        channel.eventLoop.execute { [self] in
            let last = state.withLock { state -> HTTP2StreamID? in
                let key = ObjectIdentifier(channel)
                guard state.open[key]?.hasEnded == false else { return nil }
                state.open[key]?.hasEnded = true
                return state.open[key]?.lastStream
            }
            if let last { channel.triggerUserOutboundEvent(Goaway(last: last), promise: nil) }
        }
    }

    /// GOAWAY that rejects all streams.
    func rejectAllStreams(_ channel: any Channel) {
        let payload = HTTP2Frame.FramePayload.goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil)
        channel.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload), promise: nil)
    }

    private func grant(_ streams: Int, to channel: any Channel) {
        let setting = HTTP2Setting(parameter: .maxConcurrentStreams, value: streams)
        channel.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: .settings(.settings([setting]))), promise: nil)
    }
}
