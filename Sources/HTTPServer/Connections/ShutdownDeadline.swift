package import NIOCore
package import NIOHTTPTypes

/// Closes a connection that has not ended so long after the server began to shut down, whatever its peer and its requests wait for.
package final class ShutdownDeadline: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart

    private let deadline: TimeAmount
    private var timer: Scheduled<Void>?

    package init(_ deadline: TimeAmount) { self.deadline = deadline }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, timer == nil {
            let channel = context.channel
            timer = channel.eventLoop.scheduleTask(in: deadline) { channel.close(mode: .all, promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }
}
