package import Hummingbird
import Logging
import NIOCore

/// What every request carries: its id, its caller, its logger.
package struct PushwatchContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// From `X-Request-Id` when that is usable, else made here; echoed in every answer and present in every log line.
    package var requestId: String
    /// Who calls; nil until authenticated.
    package var caller: Caller?
    /// The address at the other end of the connection: the caller's, or that of the proxy in front.
    package let peer: String?
    /// The connection, for answers that come before the answer.
    let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        requestId = ""
        channel = source.channel
        peer = source.channel.remoteAddress?.ipAddress
    }

    /// The same as `requestId` (the framework's default reads a logger key that we drop).
    package var id: String { requestId }

    /// True when the router found no route for this path and method.
    package var isUnrouted: Bool { endpointPath == nil || endpointPath == "NotFound" }
}
