import CEpoll
import Glibc

/// Waits for events on the descriptors of all connections, and on an eventfd with which other threads wake it up.
///
/// Used on the loop's thread only, except `wakeUp`, which any thread may call.
final class EventPoller: Sendable {
    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    private let wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    private static let wakeTag = UInt64.max

    init() {
        precondition(epoll >= 0 && wakeDescriptor >= 0, "no descriptors left for the HTTP client")
        pw_epoll_set(epoll, wakeDescriptor, EPOLLIN.rawValue, EventPoller.wakeTag, false)
    }

    /// Watches a descriptor for a connection. `isKnown`: it is watched already.
    func watch(_ descriptor: Int32, connection: UInt32, events: UInt32, isKnown: Bool) {
        pw_epoll_set(epoll, descriptor, events, UInt64(connection) << 32 | UInt64(UInt32(bitPattern: descriptor)), isKnown)
    }

    func forget(_ descriptor: Int32) { pw_epoll_set(epoll, descriptor, 0, 0, true) }

    func wakeUp() { eventfd_write(wakeDescriptor, 1) }

    /// Waits for at most the timeout, and returns the descriptors with their events, as epoll names them.
    func wait(milliseconds: Int32, _ body: (_ connection: UInt32, _ descriptor: Int32, _ events: UInt32) -> Void) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
            let count = epoll_wait(epoll, events.baseAddress, 64, milliseconds)
            guard count > 0 else { return }
            for index in 0..<Int(count) {
                let tag = pw_epoll_tag(&events[index])
                guard tag != EventPoller.wakeTag else {
                    var wakeCount: eventfd_t = 0
                    eventfd_read(wakeDescriptor, &wakeCount)
                    continue
                }
                body(UInt32(tag >> 32), Int32(bitPattern: UInt32(tag & 0xFFFF_FFFF)), events[index].events)
            }
        }
    }

    deinit {
        Glibc.close(epoll)
        Glibc.close(wakeDescriptor)
    }
}
