import Delivery
import Foundation

/// The keys that all servers of this test run seal tokens with, in memory and as the file that `pushwatch serve` reads.
enum TestTokenKeys {
    private static let line = TokenKeyRing.line(id: "test")

    static let ring: TokenKeyRing = {
        guard let ring = try? TokenKeyRing(parsing: line) else { fatalError("a made key is not a key") }
        return ring
    }()

    static let file: String = {
        let path = NSTemporaryDirectory() + "/pushwatch-tests-token-keys-\(ProcessInfo.processInfo.processIdentifier)"
        try? line.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }()
}
