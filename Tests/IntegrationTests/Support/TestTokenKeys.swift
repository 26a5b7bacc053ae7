import Delivery
import Foundation

/// The keys that all servers of this test run seal tokens with, in memory and as the file that `pushwatch serve` reads.
enum TestTokenKeys {
    private static let line = TokenKeySet.line(id: "test")

    static let keySet: TokenKeySet = {
        guard let keySet = try? TokenKeySet(parsing: line) else { fatalError("a made key is not a key") }
        return keySet
    }()

    static let file: String = {
        let path = NSTemporaryDirectory() + "/pushwatch-tests-token-keys-\(ProcessInfo.processInfo.processIdentifier)"
        try? line.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }()
}
