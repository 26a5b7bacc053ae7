package import NIOCore
package import NIOHTTPTypes

/// Closes a connection whose peer takes nothing of a response for so long. A client that sends requests and reads no response would keep
/// its connection for ever.
///
/// Watches a connection only while more is pending than the channel buffers. One that waits for a response has nothing pending.
package final class ResponseDeadline: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart

    private let deadline: TimeAmount
    private var timer: Scheduled<Void>?

    package init(_ deadline: TimeAmount) { self.deadline = deadline }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        cancel()
        if !context.channel.isWritable { watch(context.channel) }
        context.fireChannelWritabilityChanged()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    /// Nothing is added meanwhile: who writes waits until the channel is writable.
    private func watch(_ channel: any Channel) {
        let before = ResponseDeadline.pendingBytes(of: channel)
        timer = channel.eventLoop.assumeIsolated().scheduleTask(in: deadline) {
            guard ResponseDeadline.pendingBytes(of: channel) < before else { return channel.close(mode: .all, promise: nil) }
            self.watch(channel)
        }
    }

    /// A closed channel has none.
    private static func pendingBytes(of channel: any Channel) -> Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    private func cancel() {
        timer?.cancel()
        timer = nil
    }
}
