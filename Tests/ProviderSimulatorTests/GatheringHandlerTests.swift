import NIOCore
import NIOEmbedded
import Testing

@testable import ProviderSimulator

@Suite struct GatheringHandlerTests {
    @Test("what is written in one turn of the event loop goes out as one piece, in order; each write's promise is fulfilled")
    func gathers() throws {
        let channel = EmbeddedChannel(handler: GatheringHandler())
        let written = (1...3).map { number in
            let promise = channel.eventLoop.makePromise(of: Void.self)
            channel.write(ByteBuffer(bytes: [UInt8(number)]), promise: promise)
            channel.flush()
            return promise.futureResult
        }
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        channel.embeddedEventLoop.run()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [1, 2, 3]))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        for one in written { try one.wait() }
        #expect(try channel.finish().isClean)
    }

    @Test("a connection that is closed sends what it has gathered first")
    func closing() throws {
        let channel = EmbeddedChannel(handler: GatheringHandler())
        channel.write(ByteBuffer(bytes: [9]), promise: nil)
        channel.flush()
        try channel.close().wait()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [9]))
    }
}
