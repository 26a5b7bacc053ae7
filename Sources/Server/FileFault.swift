import Glibc

/// Why a file that a setting names cannot be read.
enum FileFault {
    /// In the system's words, such as `Permission denied`.
    static func cause(_ path: String) -> String {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return String(cString: strerror(errno)) }
        defer { close(file) }
        var byte: UInt8 = 0
        return read(file, &byte, 1) < 0 ? String(cString: strerror(errno)) : "it is not UTF-8"
    }
}
