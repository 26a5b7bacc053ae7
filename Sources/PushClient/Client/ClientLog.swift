#if canImport(os)
    import os
#endif

/// Where the client logs its failures: the system's log on Apple's platforms (subsystem `pushwatch`, category `client`). Elsewhere only the
/// callback receives them.
enum ClientLog {
    static func write(_ event: ClientEvent) {
        #if canImport(os)
            Logger(subsystem: "pushwatch", category: "client").error("\(event.description, privacy: .public)")
        #endif
    }
}
