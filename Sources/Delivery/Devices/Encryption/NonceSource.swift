import Foundation
import Synchronization

/// Random nonces for AES-GCM, 21 for each question to the system. Safe to use from any task.
final class NonceSource: Sendable {
    /// The most that `getentropy` gives at once are 256 bytes.
    private static let size = 21 * KeyCipher.nonceSize

    /// Random bytes that were not used.
    private let rest = Mutex<[UInt8]>([])

    func next() -> [UInt8] {
        rest.withLock { rest in
            if rest.isEmpty { rest = Self.randomBytes() }
            defer { rest.removeLast(KeyCipher.nonceSize) }
            return Array(rest.suffix(KeyCipher.nonceSize))
        }
    }

    private static func randomBytes() -> [UInt8] {
        Array(unsafeUninitializedCapacity: size) { buffer, filled in
            filled = size
            guard getentropy(buffer.baseAddress, filled) == 0 else { preconditionFailure("the system has no random bytes") }
        }
    }
}
