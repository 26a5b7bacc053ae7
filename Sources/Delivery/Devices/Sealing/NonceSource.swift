import Crypto
import Foundation
import Synchronization

/// Random nonces for AES-GCM, 21 for each question to the system: one alone takes two. Safe to use from any task.
final class NonceSource: Sendable {
    private static let size = 12
    /// What `getentropy` gives at most is 256 bytes.
    private static let count = 21

    /// Random bytes that were not used.
    private let rest = Mutex<ArraySlice<UInt8>>([])

    func next() throws -> AES.GCM.Nonce {
        try AES.GCM.Nonce(
            data: rest.withLock { rest in
                if rest.isEmpty {
                    rest = Array(unsafeUninitializedCapacity: Self.size * Self.count) { buffer, count in
                        count = buffer.count
                        guard getentropy(buffer.baseAddress!, count) == 0 else { fatalError("the system has no random bytes") }
                    }[...]
                }
                defer { rest.removeFirst(Self.size) }
                return rest.prefix(Self.size)
            }
        )
    }
}
