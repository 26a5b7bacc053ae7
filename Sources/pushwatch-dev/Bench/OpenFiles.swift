import Foundation

/// The limit of open files of this process and of those it starts.
enum OpenFiles {
    /// Raises the soft limit as far as the hard one allows; what it is then.
    @discardableResult
    static func raise(to wanted: Int) -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        if limit.rlim_cur < rlim_t(wanted) {
            limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
            _ = setrlimit(resource, &limit)
        }
        return Int(min(limit.rlim_cur, rlim_t(Int32.max)))
    }
}
