import NIOCore

/// Gathers what is written in one turn of the event loop, so that TLS makes one record of it.
///
/// HTTP/2 writes each frame by itself, and TLS makes a record of each write: three for an answer, which cost server and client more than
/// the answer.
final class GatheringHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var gathered = ByteBuffer()
    private var promises: [EventLoopPromise<Void>] = []
    private var isScheduled = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        gathered.writeImmutableBuffer(unwrapOutboundIn(data))
        if let promise { promises.append(promise) }
    }

    func flush(context: ChannelHandlerContext) {
        guard !isScheduled else { return }
        isScheduled = true
        context.eventLoop.assumeIsolated().execute { [self] in
            isScheduled = false
            send(context)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        send(context)
        context.close(mode: mode, promise: promise)
    }

    private func send(_ context: ChannelHandlerContext) {
        guard gathered.readableBytes > 0 else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        for promise in promises { written.futureResult.cascade(to: promise) }
        promises = []
        context.writeAndFlush(wrapOutboundOut(gathered), promise: written)
        gathered = ByteBuffer()
    }
}
