import Metrics
package import NIOCore
import NIOHTTPTypes
import Synchronization

/// How many connections a listener may have at once, in all and from one address; one more is closed without an answer.
///
/// Behind a balancer every connection has the balancer's address: leave the limit by address off there. Safe to use from any task.
package final class ConnectionLimit: Sendable {
    private struct Open {
        var total = 0
        var byAddress: [String: Int] = [:]
    }

    private let total: Int
    private let perAddress: Int
    private let open = Mutex(Open())
    private let refused = Counter(label: "pushwatch_http_connections_refused_total")

    /// - Parameter perAddress: 0 for no limit.
    package init(total: Int, perAddress: Int) {
        self.total = total
        self.perAddress = perAddress
    }

    /// What watches one connection.
    package func handler() -> any RemovableChannelHandler & Sendable { ConnectionLimitHandler(self) }

    func enter(_ address: String) -> Bool {
        let isIn = open.withLock { open in
            let count = open.byAddress[address, default: 0]
            guard open.total < total, perAddress == 0 || count < perAddress else { return false }
            open.total += 1
            open.byAddress[address] = count + 1
            return true
        }
        if !isIn { refused.increment() }
        return isIn
    }

    func leave(_ address: String) {
        open.withLock { open in
            let count = open.byAddress[address, default: 1] - 1
            open.total -= 1
            open.byAddress[address] = count == 0 ? nil : count
        }
    }

    /// How many connections are open from there.
    func count(of address: String) -> Int { open.withLock { $0.byAddress[address, default: 0] } }
}

/// `@unchecked Sendable`: lives on its channel's event loop.
private final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let limit: ConnectionLimit
    private var address: String?

    init(_ limit: ConnectionLimit) { self.limit = limit }

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
        guard address == nil else { return }
        // A peer that is gone already has no address, and counts nevertheless: its descriptor is open.
        let from = context.channel.remoteAddress?.ipAddress ?? ""
        guard limit.enter(from) else { return context.close(promise: nil) }
        address = from
    }

    private func leave() {
        if let address { limit.leave(address) }
        address = nil
    }
}
