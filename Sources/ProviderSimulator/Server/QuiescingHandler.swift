import NIOCore

/// Ends a connection when the simulator stops, as providers do: GOAWAY, the answers under way, then the end.
///
/// NIO's own way waits for an answer to a PING. A client that is idle does not read, a connection still in its handshake has no HTTP/2
/// to hear of it, one that was accepted in the last moment is never begun; each would keep the simulator for as long as its peer likes.
final class QuiescingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// How long a connection may go on: with answers under way; with none, to hear of GOAWAY; and before it speaks HTTP/2.
    private static let grace = (busy: TimeAmount.seconds(5), idle: TimeAmount.milliseconds(200), other: TimeAmount.seconds(1))

    private let connections: ConnectionRegistry

    init(connections: ConnectionRegistry) {
        self.connections = connections
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
        let channel = context.channel
        let grace: TimeAmount
        switch connections.running(on: channel) {
        case let streams?:
            connections.drain(channel)
            grace = streams > 0 ? Self.grace.busy : Self.grace.idle
        case nil:
            // HTTP/1.1, which ends by itself, or no protocol yet.
            context.fireUserInboundEventTriggered(event)
            grace = Self.grace.other
        }
        // From here it goes past TLS, which would wait for the peer's farewell.
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        channel.eventLoop.scheduleTask(in: grace) { context.value.close(promise: nil) }
    }
}
