import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

@Suite("A connection has a deadline in a shutdown")
struct ShutdownDeadlineTests {
    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: ShutdownDeadline(.seconds(10)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        return channel
    }

    @Test("a connection that does not end by itself is closed")
    func staysOpen() throws {
        let channel = try channel()
        channel.embeddedEventLoop.advanceTime(by: .seconds(1_000))
        #expect(channel.isActive)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("handlers behind it hear of the shutdown, too")
    func passesOn() throws {
        final class Hearer: ChannelInboundHandler {
            typealias InboundIn = Any
            var hears = false

            func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { hears = event is ChannelShouldQuiesceEvent }
        }
        let channel = try channel()
        let hearer = Hearer()
        try channel.pipeline.syncOperations.addHandler(hearer)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(hearer.hears)
    }
}
