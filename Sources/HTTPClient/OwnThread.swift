import Glibc

/// Runs `body` on a thread of its own. False if there is none to be had.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let status = pthread_create(
        &thread,
        nil,
        { context in
            Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().body()
            return nil
        },
        box.toOpaque()
    )
    guard status == 0 else {
        box.release()
        return false
    }
    pthread_detach(thread)
    return true
}
