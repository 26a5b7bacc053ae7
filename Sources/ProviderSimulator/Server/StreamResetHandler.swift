import NIOCore
import NIOHTTP2

/// Turns a `StreamReset` that comes down a stream's pipeline into the frame. Stands next to the connection.
final class StreamResetHandler: ChannelOutboundHandler {
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let reset = event as? StreamReset else { return context.triggerUserOutboundEvent(event, promise: promise) }
        context.writeAndFlush(wrapOutboundOut(.rstStream(reset == .refused ? .refusedStream : .cancel)), promise: promise)
    }
}
