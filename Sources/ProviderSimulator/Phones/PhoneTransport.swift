package import PushClient
import Synchronization

/// A simulated phone's network: there or not. What goes through is kept, so that a test can count it.
package final class PhoneTransport: PushTransport {
    private let next: any PushTransport
    private let isOnline = Mutex(true)
    private let calls = Mutex<[PushRequest]>([])

    package init(_ next: any PushTransport) { self.next = next }

    func setOnline(_ online: Bool) { isOnline.withLock { $0 = online } }

    /// The calls that left the phone, oldest first.
    package var sent: [PushRequest] { calls.withLock { $0 } }

    package func send(_ request: PushRequest) async -> PushResponse? {
        guard isOnline.withLock({ $0 }) else { return nil }
        calls.withLock { calls in
            // A phone that runs for days is not to fill the memory.
            if calls.count >= 1000 { calls.removeFirst(500) }
            calls.append(request)
        }
        return await next.send(request)
    }
}
