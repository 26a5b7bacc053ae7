import HTTPTypes
package import NIOCore
import NIOHTTP1
package import NIOHTTPTypes

/// Watches how requests are framed on a connection: what cannot be routed is handed on as a request that carries its fault, so that it is
/// answered in its turn, with a problem document, and is counted and logged as every other; nothing after it is read. Answers
/// `Expect: 100-continue` with an end of the connection where a final answer comes instead of it (RFC 9110 §10.1.1).
///
/// Is placed after the codec, and adds what it needs around the decoder. A fault within a body reaches the body's reader as an error.
package final class RequestFraming: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// Of the head that the codec hands over next.
    private var fault: ProtocolFault?
    private var isInBody = false
    /// Nothing after the request at hand is read.
    private var isLast = false
    /// Requests handed over and not answered.
    private var unanswered = 0
    /// The client waits for 100 before it sends the body.
    private var awaitsContinue = false
    private let line = RequestLine()

    package init() {}

    package func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) else { return }
        try? pipeline.addHandler(line, position: .before(decoder))
        try? pipeline.addHandler(HeadCheck(of: self), position: .after(decoder))
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isLast || isInBody else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            unanswered += 1
            if let fault {
                self.fault = nil
                return pass(fault, head, context)
            }
            isInBody = true
            awaitsContinue = head.headerFields[.expect] != nil
            if Self.ends(head) {
                isLast = true
                head.headerFields[.connection] = "close"
            }
            return context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body: awaitsContinue = false
        case .end:
            isInBody = false
            awaitsContinue = false
            line.restart()
        }
        context.fireChannelRead(data)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Bytes behind a fault, which the decoder does not read.
        if case .dataReceivedInErrorState = error as? ByteToMessageDecoderError { return }
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        guard isInBody || !isLast else { return }
        let fault = ProtocolFault(error, in: line)
        if isInBody {
            isInBody = false
            isLast = true
            return context.fireErrorCaught(fault)
        }
        unanswered += 1
        pass(fault, HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/"), context)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.kind == .informational:
            awaitsContinue = false
            context.write(data, promise: promise)
        case .head(var head):
            // The body may come all the same, or never: only the end of the connection says where the next request begins.
            if awaitsContinue { isLast = true }
            if isLast, unanswered == 1 { head.headerFields[.connection] = "close" }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            unanswered -= 1
            guard isLast, unanswered == 0 else { return context.write(data, promise: promise) }
            context.writeAndFlush(data, promise: promise)
            // The peer reads the answer before it learns that the connection is over; what it still sends is not read.
            context.close(mode: .output, promise: nil)
        }
    }

    /// The request, or its replacement, with its fault; and nothing after it.
    private func pass(_ fault: ProtocolFault, _ head: HTTPRequest, _ context: ChannelHandlerContext) {
        var head = head
        // A field that no HTTP/1.1 client can send.
        head.extendedConnectProtocol = fault.rawValue
        head.headerFields[.connection] = "close"
        isLast = true
        isInBody = false
        context.fireChannelRead(wrapInboundOut(.head(head)))
        context.fireChannelRead(wrapInboundOut(.end(nil)))
        context.fireChannelReadComplete()
    }

    /// The decoder reads nothing behind a request that could change the protocol, which we never do.
    private static func ends(_ head: HTTPRequest) -> Bool {
        guard head.method != .connect else { return true }
        guard let connection = head.headerFields[.connection] else { return false }
        let options = connection.lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        return options.contains("close") || options.contains("upgrade")
    }

    /// Before the codec, where the version and every Host field are still to be seen.
    private final class HeadCheck: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias InboundOut = HTTPServerRequestPart

        private let owner: RequestFraming

        init(of owner: RequestFraming) { self.owner = owner }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
            owner.fault = ProtocolFault(head)
            guard head.version != .http1_1 else { return context.fireChannelRead(data) }
            head.headers.remove(name: "expect")
            if !head.isKeepAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
            context.fireChannelRead(wrapInboundOut(.head(head)))
        }
    }
}
