package import HummingbirdCore
package import Logging
package import NIOCore
package import NIOHTTPTypes

/// Hummingbird's HTTP/1.1, whose connections may be dropped before they are served.
package struct PendingHTTP1Channel: ServerChildChannel {
    package typealias Value = PendingChannel<HTTPRequestPart, HTTPResponsePart>

    private let served: HTTP1Channel

    package init(responder: @escaping HTTPChannelHandler.Responder, configuration: HTTP1Channel.Configuration = .init()) {
        served = HTTP1Channel(responder: responder, configuration: configuration)
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        served.setup(channel: channel, logger: logger).map(PendingChannel.init)
    }

    package func handle(value: Value, logger: Logger) async {
        await served.handle(value: value.take(), logger: logger)
    }
}

extension HTTPServerBuilder {
    /// As `http1`; a connection that is accepted while the server stops does not end the process.
    package static func pendingHTTP1(configuration: HTTP1Channel.Configuration = .init()) -> HTTPServerBuilder {
        .init { PendingHTTP1Channel(responder: $0, configuration: configuration) }
    }
}
