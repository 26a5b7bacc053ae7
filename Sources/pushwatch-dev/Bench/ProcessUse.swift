import Foundation
import Postgres

/// What a process, or a family of processes, has used: from /proc; nil where there is none or it is not ours to read.
struct ProcessUse {
    let pid: Int32

    /// User and system time in seconds, without children.
    var cpuSeconds: Double? { times.map { $0.own } }

    /// The same of the process, its ended children and its living ones: PostgreSQL with its sessions.
    var familySeconds: Double? {
        guard let own = times else { return nil }
        let children = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap(Int32.init) ?? []
        let living = children.compactMap { ProcessUse(pid: $0).times }.filter { $0.parent == pid }
        return own.own + own.endedChildren + living.reduce(0) { $0 + $1.own }
    }

    /// The peak memory of the process since `resetPeak`, in bytes.
    var peakMemory: Int? { kilobytes("VmHWM:") }

    /// The memory of the process now, in bytes.
    var memory: Int? { kilobytes("VmRSS:") }

    /// The processes that this one has started and that live.
    var children: [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap(Int32.init) ?? []
        return all.filter { ProcessUse(pid: $0).times?.parent == pid }
    }

    /// PostgreSQL's first process, when it runs on this machine.
    static func postgres(of pool: PostgresPool) async throws -> ProcessUse? {
        let rows = try await pool.query("SELECT pg_backend_pid()")
        let session = try rows[0].decode(Int32.self)
        guard let name = try? String(contentsOfFile: "/proc/\(session)/comm", encoding: .utf8), name.hasPrefix("postgres") else {
            return nil
        }
        return parent(of: session).map(ProcessUse.init)
    }

    func resetPeak() {
        guard let file = FileHandle(forWritingAtPath: "/proc/\(pid)/clear_refs") else { return }
        try? file.write(contentsOf: Data("5".utf8))
        try? file.close()
    }

    static func parent(of pid: Int32) -> Int32? { ProcessUse(pid: pid).times?.parent }

    private func kilobytes(_ name: String) -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }

    private var times: (parent: Int32, own: Double, endedChildren: Double)? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8), let end = text.lastIndex(of: ")") else {
            return nil
        }
        // Fields after the name in brackets, which may contain spaces: state, ppid, …, utime, stime, cutime, cstime (man 5 proc).
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 14, let parent = Int32(fields[1]) else { return nil }
        let ticks = fields[11...14].map { Double($0) ?? 0 }
        let perSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
        return (parent, (ticks[0] + ticks[1]) / perSecond, (ticks[2] + ticks[3]) / perSecond)
    }
}
