package import Foundation

/// What the operating system reports about this process, under the names every Prometheus client uses.
package enum ProcessMetrics {
    /// Adds memory, processor time, open files and start time. Each is left out where /proc does not exist.
    package static func register(in registry: MetricsRegistry, startedAt: Date) {
        registry.observe("process_resident_memory_bytes", "Resident memory in bytes.") { residentBytes() }
        registry.observe("process_open_fds", "Open file descriptors.") { openFiles() }
        registry.observe("process_cpu_seconds", "User and system processor time in seconds.", isCounter: true) { processorSeconds() }
        registry.observe("process_start_time_seconds", "When the process started, in seconds since 1970 UTC.") {
            startedAt.timeIntervalSince1970
        }
    }

    private static func residentBytes() -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Double(fields[1]) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func openFiles() -> Double? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { Double($0.count) }
    }

    /// POSIX fixes the unit of `clock` at a microsecond.
    private static func processorSeconds() -> Double? {
        let microseconds = clock()
        return microseconds < 0 ? nil : Double(microseconds) / 1e6
    }
}
