import HTTPServer
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Testing

@Suite("Framing of requests")
struct RequestFramingTests {
    /// Keeps what a responder would see.
    private final class Observer: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart

        private(set) var faults: [String?] = []
        private(set) var errors = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .head(let head) = unwrapInboundIn(data) { faults.append(head.extendedConnectProtocol) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { errors += 1 }
    }

    private func observe(_ pieces: [String]) throws -> Observer {
        let channel = EmbeddedChannel()
        let observer = Observer()
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try channel.pipeline.syncOperations.addHandlers([HTTP1ToHTTPServerCodec(secure: false), RequestFraming(), observer])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        for piece in pieces { try channel.writeInbound(ByteBuffer(string: piece)) }
        _ = try channel.finish()
        return observer
    }

    @Test("bytes after a fault are no error of the request that reports it, however they are split")
    func behindFault() throws {
        let observer = try observe(["GET / HTTP/1.1\r\nHost: a\r\nX Y: z\r\n", "X: y\r\n", "\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
        #expect(observer.faults == ["malformed"])
        #expect(observer.errors == 0)
    }

    @Test(
        "a fault within a body reaches its reader once, also where the request is the last of its connection",
        arguments: ["", "Connection: close\r\n"]
    )
    func withinBody(field: String) throws {
        let observer = try observe(["POST / HTTP/1.1\r\nHost: a\r\n\(field)Transfer-Encoding: chunked\r\n\r\n5\r\nhello", "xx", "xx"])
        #expect(observer.faults == [nil])
        #expect(observer.errors == 1)
    }

    @Test(
        "a host is a name, an address in brackets or digits, perhaps with a port; anything else is a fault",
        arguments: [
            ("a", true), ("a:", true), ("a:80", true), ("127.0.0.1:8080", true), ("a_b~c.example", true), ("%41!$&'()*+,;=", true),
            ("[::1]", true), ("[::1]:443", true), ("[::ffff:1.2.3.4]", true),
            ("", false), (":80", false), ("a b", false), ("a:b", false), ("a:80:80", false), ("a/b", false), ("u@a", false),
            ("\u{e4}", false), ("[]", false), ("[::1", false), ("[::1]x", false), ("[::g]", false), ("::1", false), ("a]", false),
        ]
    )
    func host(_ host: String, isValid: Bool) throws {
        let observer = try observe(["GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n"])
        #expect(observer.faults == [isValid ? nil : "host"])
    }
}
