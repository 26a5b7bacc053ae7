import Foundation

/// What the operating system allows this process.
package struct ProcessLimits: Sendable, Equatable {
    /// Open files; nil for no limit.
    var descriptors: Int?
    /// Bytes of memory, by the control groups.
    var memory: Int?
    /// Bytes of address space, by RLIMIT_AS.
    var addressSpace: Int?

    static let leastMemory = 256 << 20
    /// Stacks and heaps of threads are reserved, though hardly used. Where a thread cannot be made libdispatch waits for ever, also with
    /// the thread that would handle SIGTERM.
    static let leastAddressSpace = 2 << 30

    /// Those of this process.
    static func current() -> ProcessLimits {
        ProcessLimits(
            descriptors: limit(of: RLIMIT_NOFILE),
            memory: memory { try? String(contentsOfFile: $0, encoding: .utf8) },
            addressSpace: limit(of: RLIMIT_AS)
        )
    }

    /// Raises the soft limit of open files to the hard one. The limit then.
    @discardableResult
    package static func raiseDescriptors() -> Int {
        var limit = rlimit()
        guard getrlimit(resource(RLIMIT_NOFILE), &limit) == 0 else { return 0 }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource(RLIMIT_NOFILE), &limit)
        return ProcessLimits.limit(of: RLIMIT_NOFILE) ?? .max
    }

    /// Throws when there is less memory than the service needs.
    func checkMemory() throws(ConfigurationError) {
        if let memory, memory < ProcessLimits.leastMemory {
            throw ConfigurationError(
                "The memory limit of the control group is \(memory >> 20) MiB; the service needs at least \(ProcessLimits.leastMemory >> 20) MiB. "
                    + "Raise MemoryMax= in the systemd unit, or the container's limit."
            )
        }
        if let addressSpace, addressSpace < ProcessLimits.leastAddressSpace {
            throw ConfigurationError(
                "The limit of address space (RLIMIT_AS) is \(addressSpace >> 20) MiB; the service needs at least "
                    + "\(ProcessLimits.leastAddressSpace >> 20) MiB. Remove it (`ulimit -v unlimited`), and limit the memory of the control group instead."
            )
        }
    }

    /// The lowest limit of the process's control groups, version 2 or 1; nil for none. `read` returns a file's text.
    static func memory(read: (String) -> String?) -> Int? {
        let groups = (read("/proc/self/cgroup") ?? "").split(separator: "\n").map {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }
        return groups.compactMap { group -> Int? in
            guard group.count == 3 else { return nil }
            switch group[1] {
            case "": return minimum("/sys/fs/cgroup", group[2], "memory.max", read)
            case "memory": return minimum("/sys/fs/cgroup/memory", group[2], "memory.limit_in_bytes", read)
            default: return nil
            }
        }.min()
    }

    /// A group's limit holds for the groups in it. In a container the path may be that of the host, which does not exist there.
    private static func minimum(_ root: String, _ path: Substring, _ file: String, _ read: (String) -> String?) -> Int? {
        let names = path.split(separator: "/").filter { $0 != ".." }
        return (0...names.count).compactMap { count in
            let directory = ([root] + names.prefix(count).map(String.init)).joined(separator: "/")
            // Without a limit the files say `max`, or a number near the largest one.
            return read("\(directory)/\(file)").flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }.flatMap {
                $0 < 1 << 60 ? $0 : nil
            }
        }.min()
    }

    #if canImport(Glibc)
        private static func resource(_ resource: __rlimit_resource) -> __rlimit_resource_t { __rlimit_resource_t(resource.rawValue) }
        private static func limit(of kind: __rlimit_resource) -> Int? {
            var limit = rlimit()
            guard getrlimit(resource(kind), &limit) == 0, limit.rlim_cur < rlim_t(Int.max) else { return nil }
            return Int(limit.rlim_cur)
        }
    #else
        private static func resource(_ resource: Int32) -> Int32 { resource }
        private static func limit(of kind: Int32) -> Int? {
            var limit = rlimit()
            guard getrlimit(kind, &limit) == 0, limit.rlim_cur < rlim_t(Int.max) else { return nil }
            return Int(limit.rlim_cur)
        }
    #endif
}
