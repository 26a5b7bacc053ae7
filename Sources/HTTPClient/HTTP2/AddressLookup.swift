import Glibc

/// A socket address.
struct SocketAddress: Sendable, Hashable {
    private let bytes: [UInt8]
    let family: Int32

    init(_ address: UnsafePointer<sockaddr>, length: socklen_t, family: Int32) {
        bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(length)))
        self.family = family
    }

    func withPointer<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        bytes.withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) }
    }
}

/// The addresses of a host. Asking for them blocks, so it has a thread of its own each time; one at a time for each origin.
enum AddressLookup {
    struct Failure: Error, Sendable {
        var detail: String
    }

    typealias Outcome = Result<[SocketAddress], Failure>

    /// Hands the outcome to `done`, on another thread.
    static func start(host: String, port: UInt16, done: @escaping @Sendable (Outcome) -> Void) {
        if !startThread({ done(addresses(host: host, port: port)) }) {
            done(.failure(Failure(detail: "\(host): no thread for the look-up")))
        }
    }

    /// In the order of preference of RFC 6724, as the system has it.
    static func addresses(host: String, port: UInt16) -> Outcome {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else { return .failure(Failure(detail: "\(host): \(String(cString: gai_strerror(status)))")) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr {
                addresses.append(SocketAddress(address, length: entry.pointee.ai_addrlen, family: entry.pointee.ai_family))
            }
            next = entry.pointee.ai_next
        }
        return addresses.isEmpty ? .failure(Failure(detail: "\(host): no address")) : .success(addresses)
    }
}
