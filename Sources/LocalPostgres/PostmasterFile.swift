import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What a running server writes into `postmaster.pid`, and whether it is still true.
struct PostmasterFile: Equatable {
    let processID: Int32
    let port: Int?
    let socketDirectory: String?

    init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count >= 2, let id = Int32(lines[0].trimmingCharacters(in: .whitespaces)), id > 0 else { return nil }
        processID = id
        port = lines.count > 3 ? Int(lines[3]) : nil
        socketDirectory = lines.count > 4 && !lines[4].isEmpty ? lines[4] : nil
    }

    static func read(dataDirectory: String) -> PostmasterFile? {
        guard let text = try? String(contentsOfFile: dataDirectory + "/postmaster.pid", encoding: .utf8) else { return nil }
        return PostmasterFile(text)
    }

    /// Whether that process lives and is a PostgreSQL server; the number may have gone to another program.
    var isAlive: Bool {
        guard kill(processID, 0) == 0 || errno == EPERM else { return false }
        #if os(Linux)
            // "pid (name) state …": a zombie no longer serves anybody.
            guard let stat = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8) else { return false }
            let afterName = stat.split(separator: ")").last ?? ""
            return stat.contains("(postgres)") && !afterName.hasPrefix(" Z")
        #else
            return true
        #endif
    }
}
