import Foundation
import Glibc
import Synchronization
import TestSupport

/// Carries a database session, and on demand loses the answer to COMMIT: the server commits, the client never hears of it.
final class DatabaseProxy: Sendable {
    private struct State {
        var cutsWanted = 0
        var cutsMade = 0
        var open: [Int32] = []
    }

    /// The way through the proxy to the same database.
    let url: String
    private let listener: Int32
    private let target: Target
    private let state = Mutex(State())
    /// The server's major version, as clients are to see it.
    private let majorVersion: Int?

    enum Target { case tcp(Int), socket(String) }

    /// - Parameters:
    ///   - database: a URL of a database on this machine, by socket directory or loopback port.
    ///   - majorVersion: two digits that replace the server's own.
    init(to database: String, majorVersion: Int? = nil) throws {
        self.majorVersion = majorVersion
        guard var parts = URLComponents(string: database) else { throw NeverHappened(description: "the database's URL cannot be read") }
        let items = parts.queryItems ?? []
        let port = items.first { $0.name == "port" }?.value.flatMap { Int($0) } ?? parts.port ?? 5432
        if let host = items.first(where: { $0.name == "host" })?.value, host.hasPrefix("/") {
            target = .socket(host + "/.s.PGSQL.\(port)")
        } else {
            target = .tcp(port)
        }
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        parts.port = withLoopback(port: 0) { address, length in
            var length = length
            bind(listener, address, length)
            listen(listener, 64)
            getsockname(listener, address, &length)
        }
        parts.host = "127.0.0.1"
        parts.queryItems = [URLQueryItem(name: "sslmode", value: "disable"), URLQueryItem(name: "gssencmode", value: "disable")]
        url = parts.string ?? ""
        Thread.detachNewThread { [self] in
            while true {
                let near = accept(listener, nil, nil)
                guard near >= 0 else { break }
                carry(near)
            }
        }
    }

    /// Loses the answers to the next `count` COMMITs.
    func loseCommitAnswers(_ count: Int) { state.withLock { $0.cutsWanted = count } }

    /// Answers to COMMIT lost so far.
    var lost: Int { state.withLock { $0.cutsMade } }

    func stop() {
        state.withLock { state in
            for descriptor in state.open { Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        Glibc.shutdown(listener, Int32(SHUT_RDWR))
    }

    private func carry(_ near: Int32) {
        let far = connectToTarget()
        state.withLock { $0.open += [near, far] }
        // Once set, what the server says goes nowhere; its first word after that proves that it has committed.
        let deafness = Deafness()
        Thread.detachNewThread { [self] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            var frames = ClientFrames()
            while true {
                let count = recv(near, &chunk, chunk.count, 0)
                guard count > 0 else { break }
                if frames.endTransaction(chunk[..<count]), takeCut() { deafness.begin() }
                guard send(far, chunk, count, Int32(MSG_NOSIGNAL)) == count else { break }
            }
            Glibc.shutdown(far, Int32(SHUT_RDWR))
        }
        Thread.detachNewThread { [self] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = recv(far, &chunk, chunk.count, 0)
                guard count > 0 else { break }
                if deafness.isDeaf {
                    state.withLock { $0.cutsMade += 1 }
                    break
                }
                if let majorVersion, let at = chunk[..<count].firstRange(of: "server_version\0".utf8)?.upperBound, at + 2 <= count {
                    chunk.replaceSubrange(at..<at + 2, with: "\(majorVersion)".utf8)
                }
                guard send(near, chunk, count, Int32(MSG_NOSIGNAL)) == count else { break }
            }
            Glibc.shutdown(near, Int32(SHUT_RDWR))
            Glibc.shutdown(far, Int32(SHUT_RDWR))
        }
    }

    private func takeCut() -> Bool {
        state.withLock { state in
            guard state.cutsWanted > 0 else { return false }
            state.cutsWanted -= 1
            return true
        }
    }

    private func connectToTarget() -> Int32 {
        switch target {
        case .tcp(let port):
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            _ = withLoopback(port: port) { connect(descriptor, $0, $1) }
            return descriptor
        case .socket(let path):
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            return descriptor
        }
    }
}

/// Follows what a client says, message by message: a pipeline of several statements commits at its Sync, where nobody says COMMIT, and
/// a prepared COMMIT is called by its name.
private struct ClientFrames {
    private var header: [UInt8] = []
    private var body: [UInt8] = []
    private var isStarted = false
    private var rest = 0
    private var statements = 0
    private var commitNames: Set<[UInt8]> = []
    private var commits = false
    /// A writing transaction in one pipeline: the generations, the ledger, the attempts, the counts. BEGIN and its checks are fewer.
    private static let fewest = 4

    /// Whether a transaction that writes is committed by something within these bytes.
    mutating func endTransaction(_ bytes: ArraySlice<UInt8>) -> Bool {
        var ends = false
        for byte in bytes {
            if rest > 0 {
                rest -= 1
                if body.count < 64 { body.append(byte) }
                if rest == 0, take() { ends = true }
                continue
            }
            header.append(byte)
            guard header.count == (isStarted ? 5 : 4) else { continue }
            rest = header.suffix(4).reduce(0) { $0 << 8 | Int($1) } - 4
            if rest <= 0, take() { ends = true }
        }
        return ends
    }

    /// One whole message.
    private mutating func take() -> Bool {
        defer {
            isStarted = true
            header = []
            body = []
        }
        guard isStarted, let kind = header.first else { return false }
        let words = body.split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
        switch kind {
        case UInt8(ascii: "P"):
            guard words.count > 1 else { break }
            if words[1] == Array("COMMIT".utf8) { commitNames.insert(words[0]) } else { commitNames.remove(words[0]) }
        case UInt8(ascii: "Q"):
            return words.first == Array("COMMIT".utf8)
        case UInt8(ascii: "B"):
            statements += 1
            if words.count > 1, commitNames.contains(words[1]) { commits = true }
        case UInt8(ascii: "S"):
            defer {
                statements = 0
                commits = false
            }
            return commits || statements >= ClientFrames.fewest
        default: break
        }
        return false
    }
}

/// Whether one connection's answers are dropped.
private final class Deafness: Sendable {
    private let state = Mutex(false)

    var isDeaf: Bool { state.withLock { $0 } }

    func begin() { state.withLock { $0 = true } }
}

/// Calls `body` with 127.0.0.1 and this port; returns the port the address holds afterwards.
private func withLoopback(port: Int, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Void) -> Int {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    return Int(UInt16(bigEndian: address.sin_port))
}
