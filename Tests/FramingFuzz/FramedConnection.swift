import HTTPServer
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// A connection in memory, set up as the listener's are, with a responder at its end.
enum FramedConnection {
    /// When a request is answered.
    enum Timing: CaseIterable {
        /// Before its body is read.
        case atHead
        /// After it was read; an expectation is answered with 100 before.
        case atEnd
        /// After all requests have arrived.
        case late
    }

    struct Request: Equatable, CustomStringConvertible {
        var method: String
        var target: String
        var host: String?
        /// The fault it stands for; it was not accepted then.
        var fault: String?
        var endsConnection: Bool
        var body: [UInt8] = []
        var isComplete = false
        /// Of its body.
        var bodyFault: String?

        var description: String {
            "\(method) \(target) \(fault ?? "accepted")\(endsConnection ? ", the last" : ""), \(body.count) bytes\(isComplete ? "" : " so far")"
                + (bodyFault.map { ", then \($0)" } ?? "")
        }
    }

    struct Trace: Equatable, CustomStringConvertible {
        var requests: [Request] = []
        /// The statuses that were written.
        var answers: [Int] = []
        /// The connection was ended.
        var isEnded = false

        var description: String { "\(requests), answers \(answers)\(isEnded ? ", ended" : "")" }
    }

    /// What comes of the pieces. The end of the input is no part of it.
    static func exchange(_ pieces: [[UInt8]], _ timing: Timing) -> Trace {
        let channel = EmbeddedChannel()
        let ending = Ending()
        let responder = Responder(timing)
        let pipeline = channel.pipeline.syncOperations
        do {
            try pipeline.addHandler(ending)
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false,
                withErrorHandling: false,
                withOutboundHeaderValidation: false
            )
            try pipeline.addHandlers([HTTP1ToHTTPServerCodec(secure: false), RequestFraming(), responder])
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
            for piece in pieces { try channel.writeInbound(ByteBuffer(bytes: piece)) }
            responder.answerAll()
            var output: [UInt8] = []
            while let bytes = try channel.readOutbound(as: ByteBuffer.self) { output += bytes.readableBytesView }
            let trace = Trace(requests: responder.requests, answers: statuses(in: output), isEnded: ending.isEnded)
            // The peer hangs up in the middle of whatever it is.
            ending.isOver = true
            _ = try? channel.finish()
            return trace
        } catch {
            fatalError("the connection in memory: \(error)")
        }
    }

    /// Answers have no body, so that each begins behind a blank line.
    private static func statuses(in output: [UInt8]) -> [Int] {
        String(decoding: output, as: UTF8.self).split(separator: "\r\n\r\n").map { answer in
            answer.hasPrefix("HTTP/1.") ? Int(answer.dropFirst(9).prefix(3)) ?? -1 : -1
        }
    }

    /// Stands for the socket: it can still be read after its output is closed.
    private final class Ending: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        private(set) var isEnded = false
        /// Nothing is observed any more.
        var isOver = false

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            guard !isOver else { return context.close(mode: mode, promise: promise) }
            isEnded = true
            promise?.succeed()
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            precondition(!isEnded || isOver, "an answer behind the end of the connection")
            context.write(data, promise: promise)
        }
    }

    /// Answers each request with an empty body.
    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart
        typealias OutboundOut = HTTPResponsePart

        /// How a fault of the request line is called depends on how much of the line has arrived.
        private static let lineFaults: Set = ["malformed", "method", "version"]

        private let timing: Timing
        private(set) var requests: [Request] = []
        private var answered = 0
        private var context: ChannelHandlerContext?

        init(_ timing: Timing) { self.timing = timing }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                let connection = head.headerFields[.connection]
                requests.append(
                    Request(
                        method: head.method.rawValue,
                        target: head.path ?? "",
                        host: head.authority,
                        fault: head.extendedConnectProtocol.map { Self.lineFaults.contains($0) ? "line" : $0 },
                        endsConnection: connection == "close"
                    )
                )
                if timing == .atHead { return answer() }
                if timing == .atEnd, head.headerFields[.expect] != nil {
                    context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
                }
            case .body(let bytes): requests[requests.count - 1].body += bytes.readableBytesView
            case .end:
                requests[requests.count - 1].isComplete = true
                if timing == .atEnd { answer() }
            }
        }

        /// As Hummingbird: the reader of the body fails; an answer that is not written yet says so, and nothing follows.
        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if !requests.isEmpty { requests[requests.count - 1].bodyFault = "\(error)" }
            if timing == .atEnd { answer() }
            if timing == .atHead { context.close(promise: nil) }
        }

        func answerAll() {
            guard timing == .late else { return }
            while answered < requests.count, requests[answered].isComplete || requests[answered].bodyFault != nil { answer() }
        }

        private func answer() {
            guard let context else { return }
            answered += 1
            context.write(wrapOutboundOut(.head(HTTPResponse(status: .ok, headerFields: [.contentLength: "0"]))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
