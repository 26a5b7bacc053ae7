import ServiceLifecycle

/// The listeners, whose part of a graceful shutdown is limited: what has not ended by then is cancelled, so that the services which write
/// what the listeners took have their time.
struct ListenerService: Service {
    let listeners: [any Service]
    let shutdownLimit: Duration

    func run() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for listener in listeners {
                group.addTask {
                    try await listener.run()
                    return true
                }
            }
            group.addTask {
                try? await gracefulShutdown()
                try? await Task.sleep(for: shutdownLimit)
                return false
            }
            var running = listeners.count
            while running > 0, try await group.next() == true { running -= 1 }
            group.cancelAll()
            // What a listener throws that was cancelled says no more than that.
            try? await group.waitForAll()
        }
    }
}
