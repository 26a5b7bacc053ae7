import Metrics
package import NIOCore
import NIOHTTPTypes
import Synchronization

/// How many connections one address may have at once; one more is closed without an answer.
///
/// Behind a balancer every connection has the balancer's address: leave it off there. Safe to use from any task.
package final class AddressLimit: Sendable {
    private let limit: Int
    private let open = Mutex<[String: Int]>([:])
    private let refused = Counter(label: "pushwatch_http_connections_refused_total")

    /// - Parameter limit: 0 for none.
    package init(_ limit: Int) { self.limit = limit }

    /// What watches one connection.
    package func handler() -> any RemovableChannelHandler & Sendable { AddressLimitHandler(self) }

    func enter(_ address: String) -> Bool {
        let isIn = open.withLock { open in
            let count = open[address, default: 0]
            guard limit == 0 || count < limit else { return false }
            open[address] = count + 1
            return true
        }
        if !isIn { refused.increment() }
        return isIn
    }

    func leave(_ address: String) {
        open.withLock { open in
            let count = open[address, default: 1] - 1
            open[address] = count == 0 ? nil : count
        }
    }

    /// How many connections are open from there.
    package func count(of address: String) -> Int { open.withLock { $0[address, default: 0] } }
}

/// `@unchecked Sendable`: lives on its channel's event loop.
private final class AddressLimitHandler: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let limit: AddressLimit
    private var address: String?

    init(_ limit: AddressLimit) { self.limit = limit }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { enter(context) } }

    func channelActive(context: ChannelHandlerContext) {
        enter(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    private func enter(_ context: ChannelHandlerContext) {
        guard address == nil, let from = context.channel.remoteAddress?.ipAddress else { return }
        guard limit.enter(from) else { return context.close(promise: nil) }
        address = from
    }

    private func leave() {
        if let address { limit.leave(address) }
        address = nil
    }
}
