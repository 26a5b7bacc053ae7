import Hummingbird
import Logging
import NIOCore

/// A request's context, with its connection.
struct SimulatorContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// An HTTP/2 stream, or the connection itself with HTTP/1.1.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// A stream's parent is its connection, whose parent is the listening socket.
    var isHTTP2: Bool {
        channel.parent?.parent != nil
    }

    var connection: any Channel {
        isHTTP2 ? channel.parent ?? channel : channel
    }

    /// The sender's address and port.
    var connectionName: String {
        guard let address = connection.remoteAddress else { return "unknown" }
        return "\(address.ipAddress ?? "?"):\(address.port ?? 0)"
    }
}
