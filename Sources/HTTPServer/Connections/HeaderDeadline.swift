package import NIOCore
package import NIOHTTPTypes

/// Closes a connection whose request head takes too long, however steadily it drips: from its first byte to its last at most `deadline`.
/// A timer of inactivity alone would allow one byte a minute for ever.
///
/// Is placed after the HTTP decoder, and adds a handler before it that sees the bytes.
package final class HeaderDeadline: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart

    private let deadline: TimeAmount
    private var timer: Scheduled<Void>?
    /// Between the end of one request and the head of the next.
    private var awaitsHead = true

    package init(_ deadline: TimeAmount) { self.deadline = deadline }

    package func handlerAdded(context: ChannelHandlerContext) {
        try? context.pipeline.syncOperations.addHandler(FirstByte(of: self), position: .first)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            awaitsHead = false
            timer?.cancel()
            timer = nil
        case .body: break
        case .end: awaitsHead = true
        }
        context.fireChannelRead(data)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    fileprivate func bytesArrived(on channel: any Channel) {
        guard awaitsHead, timer == nil else { return }
        timer = channel.eventLoop.scheduleTask(in: deadline) { channel.close(mode: .all, promise: nil) }
    }

    /// The part before the decoder, which sees each byte.
    private final class FirstByte: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer

        private let owner: HeaderDeadline

        init(of owner: HeaderDeadline) { self.owner = owner }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            owner.bytesArrived(on: context.channel)
            context.fireChannelRead(data)
        }
    }
}
