package import NIOCore
package import NIOHTTPTypes

/// Closes a connection whose request body is not whole in time, also when no handler reads it and when no byte of it ever arrives.
///
/// The reader of bodies answers 408 at its own deadline; this one is a fallback, a little later, and needs no reader. A body that comes
/// together with its head costs no timer.
package final class BodyDeadline: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart

    private let deadline: TimeAmount
    private var timer: Scheduled<Void>?
    private var isOpen = false

    package init(_ deadline: TimeAmount) { self.deadline = deadline }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: isOpen = true
        case .body: break
        case .end:
            isOpen = false
            cancel()
        }
        context.fireChannelRead(data)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if isOpen, timer == nil {
            let channel = context.channel
            timer = channel.eventLoop.scheduleTask(in: deadline) { channel.close(mode: .all, promise: nil) }
        }
        context.fireChannelReadComplete()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    private func cancel() {
        timer?.cancel()
        timer = nil
    }
}
