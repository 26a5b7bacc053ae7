import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

@Suite("A response has a deadline while nothing of it is taken")
struct ResponseDeadlineTests {
    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: ResponseDeadline(.seconds(30)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        return channel
    }

    private func setWritable(_ isWritable: Bool, _ channel: EmbeddedChannel) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }

    /// What is not flushed is pending.
    private func write(bytes: Int, to channel: EmbeddedChannel) {
        channel.write(ByteBuffer(repeating: 0, count: bytes), promise: nil)
    }

    @Test("a peer that takes nothing is cut off after the deadline")
    func takesNothing() throws {
        let channel = try channel()
        write(bytes: 100, to: channel)
        setWritable(false, channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a peer that takes some of it has the deadline anew for the rest")
    func takesSome() throws {
        let channel = try channel()
        write(bytes: 100, to: channel)
        setWritable(false, channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        channel.flush()
        write(bytes: 60, to: channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a connection that waits for a response, or whose peer reads, is left alone")
    func waits() throws {
        let channel = try channel()
        channel.embeddedEventLoop.advanceTime(by: .seconds(1_000))
        for _ in 0..<3 {
            write(bytes: 100, to: channel)
            setWritable(false, channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            channel.flush()
            setWritable(true, channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1_000))
        }
        #expect(channel.isActive)
    }
}
