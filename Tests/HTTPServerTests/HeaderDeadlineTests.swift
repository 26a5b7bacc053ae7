import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HTTPServer

@Suite("A request's head has a deadline")
struct HeaderDeadlineTests {
    /// Turns "H" into a head, "E" into the end of a request, and swallows the rest, as a decoder does.
    private final class Decoder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = HTTPRequestPart

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            for byte in unwrapInboundIn(data).readableBytesView {
                switch byte {
                case UInt8(ascii: "H"):
                    let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
                    context.fireChannelRead(wrapInboundOut(.head(head)))
                case UInt8(ascii: "E"): context.fireChannelRead(wrapInboundOut(.end(nil)))
                default: break
                }
            }
        }
    }

    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([Decoder(), HeaderDeadline(.seconds(10))])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        return channel
    }

    @Test("a byte a second is cut off after the deadline, however steady")
    func drips() throws {
        let channel = try channel()
        for _ in 0..<9 {
            try channel.writeInbound(ByteBuffer(string: "x"))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("bodies and pauses between requests are left to their own limits; the next head has its own deadline")
    func onlyHeads() throws {
        let channel = try channel()
        channel.embeddedEventLoop.advanceTime(by: .seconds(50))
        try channel.writeInbound(ByteBuffer(string: "xxH"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(50))
        try channel.writeInbound(ByteBuffer(string: "xx"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(50))
        try channel.writeInbound(ByteBuffer(string: "E"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(50))
        #expect(channel.isActive)
        try channel.writeInbound(ByteBuffer(string: "x"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }
}
