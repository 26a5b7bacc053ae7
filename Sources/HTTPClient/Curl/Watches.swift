import CEpoll
import Glibc

/// The events that libcurl waits for, by descriptor.
///
/// libcurl turns its interest in writing on and off with each request; epoll gets the net change before each wait. Used on the loop's
/// thread only.
final class Watches {
    private struct Watch {
        var connection: UInt32
        var wanted: UInt32
        /// The events last registered with epoll; 0 for none.
        var registered: UInt32 = 0
        /// It is in the list of changed descriptors.
        var isListed = false
    }

    private let poller: EventPoller
    private var watches: [Int32: Watch] = [:]
    /// Descriptors whose events may differ from those registered with epoll.
    private var changed: [Int32] = []

    init(poller: EventPoller) { self.poller = poller }

    func set(_ descriptor: Int32, connection: UInt32, reads: Bool, writes: Bool) {
        let wanted = (reads ? EPOLLIN.rawValue : 0) | (writes ? EPOLLOUT.rawValue : 0)
        var watch = watches[descriptor] ?? Watch(connection: connection, wanted: wanted)
        // The same number for another connection is another socket.
        if watch.connection != connection { watch = Watch(connection: connection, wanted: wanted, isListed: watch.isListed) }
        watch.wanted = wanted
        if !watch.isListed, watch.wanted != watch.registered {
            watch.isListed = true
            changed.append(descriptor)
        }
        watches[descriptor] = watch
    }

    /// Applied immediately: the descriptor is about to be closed, and its number may be reused.
    func remove(_ descriptor: Int32) {
        guard let watch = watches.removeValue(forKey: descriptor), watch.registered != 0 else { return }
        poller.forget(descriptor)
    }

    /// Registers the changed events with epoll.
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
