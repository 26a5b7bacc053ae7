import PushContract

#if canImport(Darwin)
    import Darwin
#endif

/// The last start of this device. Only the client calls this; decisions take the moment as an argument.
enum DeviceBoot {
    /// By the system's wall clock; nil where it is not known.
    static func moment() -> Timestamp? {
        #if canImport(Darwin)
            var boot = timeval()
            var size = MemoryLayout<timeval>.size
            guard sysctlbyname("kern.boottime", &boot, &size, nil, 0) == 0, boot.tv_sec > 0 else { return nil }
            return Timestamp(microseconds: Int64(boot.tv_sec) * 1_000_000 + Int64(boot.tv_usec))
        #else
            return nil
        #endif
    }
}
