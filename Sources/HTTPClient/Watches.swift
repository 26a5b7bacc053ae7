import CCurl
import Glibc

/// What libcurl wants to know of which descriptor.
///
/// libcurl turns its wish to write on and off with each request; epoll is told what is left of it before each wait. Belongs to the loop's
/// thread alone.
final class Watches {
    private struct Watch {
        var connection: UInt32
        var wanted: UInt32
        /// What epoll was told last; 0 when it was told nothing.
        var registered: UInt32 = 0
        /// It is among the changed.
        var isListed = false
    }

    private let poller: EventPoller
    private var watches: [Int32: Watch] = [:]
    /// Those that may differ from what epoll knows.
    private var changed: [Int32] = []

    init(poller: EventPoller) { self.poller = poller }

    func set(_ descriptor: Int32, connection: UInt32, reads: Bool, writes: Bool) {
        let wanted = (reads ? EPOLLIN.rawValue : 0) | (writes ? EPOLLOUT.rawValue : 0)
        var watch = watches[descriptor] ?? Watch(connection: connection, wanted: wanted)
        // The same number for another line is another socket.
        if watch.connection != connection { watch = Watch(connection: connection, wanted: wanted, isListed: watch.isListed) }
        watch.wanted = wanted
        if !watch.isListed, watch.wanted != watch.registered {
            watch.isListed = true
            changed.append(descriptor)
        }
        watches[descriptor] = watch
    }

    /// At once: the descriptor is about to be closed, and its number given out again.
    func remove(_ descriptor: Int32) {
        guard let watch = watches.removeValue(forKey: descriptor), watch.registered != 0 else { return }
        poller.forget(descriptor)
    }

    /// Tells epoll what has changed.
    func apply() {
        for descriptor in changed {
            guard var watch = watches[descriptor], watch.isListed else { continue }
            watch.isListed = false
            if watch.wanted != watch.registered {
                poller.watch(descriptor, connection: watch.connection, events: watch.wanted, isKnown: watch.registered != 0)
                watch.registered = watch.wanted
            }
            watches[descriptor] = watch
        }
        changed.removeAll(keepingCapacity: true)
    }
}
