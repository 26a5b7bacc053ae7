import Crypto
import Foundation
import Synchronization

/// Random nonces for AES-GCM, 21 for each question to the system: `AES.GCM.Nonce()` asks twice for one. Safe to use from any task.
final class NonceSource: Sendable {
    private static let size = 12
    /// The most that `getentropy` gives at once are 256 bytes.
    private static let count = 21

    /// Random bytes that were not used.
    private let rest = Mutex<[UInt8]>([])

    func next() throws -> AES.GCM.Nonce {
        let bytes = rest.withLock { rest in
            if rest.isEmpty { rest = Self.randomBytes() }
            defer { rest.removeLast(Self.size) }
            return Array(rest.suffix(Self.size))
        }
        return try AES.GCM.Nonce(data: bytes)
    }

    private static func randomBytes() -> [UInt8] {
        Array(unsafeUninitializedCapacity: size * count) { buffer, filled in
            filled = size * count
            guard getentropy(buffer.baseAddress, filled) == 0 else { preconditionFailure("the system has no random bytes") }
        }
    }
}
