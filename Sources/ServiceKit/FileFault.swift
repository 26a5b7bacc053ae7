import Foundation
import Glibc

/// Why a file or a directory cannot be read or written.
package enum FileFault {
    /// In the system's words, such as `Permission denied`; `it is not UTF-8` for a file that can be read.
    package static func cause(_ path: String, isDirectory: Bool = false) -> String {
        let file = open(path, isDirectory ? O_RDONLY | O_DIRECTORY : O_RDONLY)
        guard file >= 0 else { return String(cString: strerror(errno)) }
        defer { close(file) }
        var byte: UInt8 = 0
        return read(file, &byte, 1) < 0 ? String(cString: strerror(errno)) : "it is not UTF-8"
    }

    /// Of what Foundation threw: in the system's words, too, where it says them.
    package static func cause(of error: any Error) -> String {
        let cause = error as? POSIXError ?? (error as? CocoaError)?.underlying as? POSIXError
        return cause.map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
    }
}
