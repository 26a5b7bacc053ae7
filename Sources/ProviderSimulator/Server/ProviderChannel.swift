import HTTPServer
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
import NIOSSL

/// A connection to a simulated provider: TLS, then HTTP/2 or HTTP/1.1 by ALPN.
///
/// Hummingbird's own HTTP/2 channel keeps NIO's guard against floods: 200 PRIORITY, PING or SETTINGS frames in 30 s and the
/// connection ends with GOAWAY(ENHANCE_YOUR_CALM). Some clients send a PRIORITY frame with each request, and a sender's rate is
/// what the simulator is for; so here the guard is out of the way, and as many streams are open as APNs allows.
struct ProviderChannel: ServerChildChannel {
    typealias Stream = PendingChannel<HTTPRequestPart, HTTPResponsePart>
    typealias Connection = NIOHTTP2Handler.AsyncStreamMultiplexer<Arrival>

    /// A stream that the peer has begun.
    struct Arrival: Sendable {
        let stream: Stream
        /// It came after GOAWAY.
        let isIgnored: Bool
    }

    struct Value: ServerChildChannelValue {
        let negotiated: EventLoopFuture<NIONegotiatedHTTPVersion<PendingHTTP1Channel.Value, Connection>>
        let channel: any Channel
    }

    /// Bytes of body kept; what comes after is read and dropped. No provider accepts so much.
    private static let bodyLimit = 64 * 1024
    private static let unlimited = 1_000_000_000

    private let tls: ProviderTLS
    private let connections: ConnectionRegistry
    private let responder: HTTPChannelHandler.Responder
    private let http1: PendingHTTP1Channel

    init(tls: ProviderTLS, connections: ConnectionRegistry, responder: @escaping HTTPChannelHandler.Responder) {
        self.tls = tls
        self.connections = connections
        self.responder = responder
        http1 = PendingHTTP1Channel(responder: responder)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let conditions = connections.conditions
        if conditions.refusesConnections || connections.isClosed {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ConnectionDropped())
        }
        do {
            try channel.pipeline.syncOperations.addHandler(QuiescingHandler(connections: connections))
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context(under: conditions)))
            try channel.pipeline.syncOperations.addHandler(GatheringHandler())
            try channel.pipeline.syncOperations.addHandler(GoawayHandler())
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return channel.configureHTTP2AsyncSecureUpgrade { channel in
            http1.setup(channel: channel, logger: logger)
        } http2ConnectionInitializer: { channel in
            channel.eventLoop.makeCompletedFuture { try connection(on: channel) }
        }
        .map { Value(negotiated: $0, channel: channel) }
    }

    func handle(value: Value, logger: Logger) async {
        do {
            switch try await value.negotiated.get() {
            case .http1_1(let channel): await http1.handle(value: channel, logger: logger)
            case .http2(let connection): try await serve(connection, on: value.channel, logger: logger)
            }
        } catch {
            logger.debug("a connection to the simulator ended", metadata: ["error": "\(error)"])
        }
    }

    private func connection(on channel: any Channel) throws -> Connection {
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: connections.firstStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 16384),
        ]
        configuration.connection.targetWindowSize = 16 << 20
        configuration.connection.controlFrameRateLimit.maximumCount = Self.unlimited
        configuration.connection.maximumConnectionGlitches = Self.unlimited
        configuration.stream.streamResetFrameRateLimit.maximumCount = Self.unlimited
        configuration.stream.streamErrorRateLimit.maximumCount = Self.unlimited
        return try channel.pipeline.syncOperations.configureAsyncHTTP2Pipeline(
            mode: .server,
            connectionManagerConfiguration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil),
            http2HandlerConfiguration: configuration
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                let isIgnored = !connections.begin(stream)
                try stream.pipeline.syncOperations.addHandler(StreamResetHandler())
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTPServerCodec())
                return Arrival(stream: Stream(try NIOAsyncChannel(wrappingChannelSynchronously: stream)), isIgnored: isIgnored)
            }
        }
    }

    private func serve(_ connection: Connection, on channel: any Channel, logger: Logger) async throws {
        connections.add(channel)
        defer {
            connections.remove(channel)
            // After an error of the protocol NIO keeps it open, and its streams are not read.
            channel.close(promise: nil)
        }
        try await withThrowingDiscardingTaskGroup { group in
            for try await arrival in connection.inbound {
                group.addTask {
                    guard !arrival.isIgnored else { return await ignore(arrival.stream) }
                    await serve(arrival.stream, logger: logger)
                    connections.end(streamOf: channel)
                }
            }
        }
    }

    /// Reads a stream that came after GOAWAY, and says nothing.
    private func ignore(_ stream: Stream) async {
        let stream = stream.take()
        try? await stream.executeThenClose { inbound, _ in
            for try await _ in inbound {}
            await stream.channel.untilClosedOrShutdown()
        }
    }

    /// One request and its answer. A stream that breaks takes no other with it.
    private func serve(_ stream: Stream, logger: Logger) async {
        let stream = stream.take()
        do {
            try await stream.executeThenClose { inbound, outbound in
                var parts = inbound.makeAsyncIterator()
                guard case .head(let head) = try await parts.next() else { return }
                var body = ByteBuffer()
                while case .body(let chunk) = try await parts.next() {
                    if body.readableBytes <= Self.bodyLimit { body.writeImmutableBuffer(chunk) }
                }
                let request = Request(head: head, body: RequestBody(buffer: body))
                try await responder(request, ResponseWriter(outbound: outbound), stream.channel)
                // The stream ends when both sides have; closing it earlier would reset it.
                while try await parts.next() != nil {}
            }
        } catch {
            logger.trace("a request to the simulator ended", metadata: ["error": "\(error)"])
        }
    }
}
