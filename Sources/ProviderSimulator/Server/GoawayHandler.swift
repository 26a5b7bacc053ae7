import NIOCore
import NIOHTTP2

/// The words of a connection that ends gracefully: streams above `last` were not processed and never will be (RFC 9113 §6.8).
struct Goaway: Sendable {
    var last: HTTP2StreamID
}

/// Writes GOAWAY below NIO's state of the connection, which would take the body of a stream that it ignores for an error of the protocol
/// and drop the streams under way.
final class GoawayHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let goaway = event as? Goaway else { return context.triggerUserOutboundEvent(event, promise: promise) }
        var frame = context.channel.allocator.buffer(capacity: 17)
        // Eight bytes of payload, type 7, no flags, stream 0; then the last stream and NO_ERROR.
        frame.writeBytes([0, 0, 8, 7, 0, 0, 0, 0, 0])
        frame.writeInteger(UInt32(Int(goaway.last)))
        frame.writeInteger(UInt32(0))
        context.writeAndFlush(wrapOutboundOut(frame), promise: promise)
    }
}
