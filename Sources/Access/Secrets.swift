import Crypto

/// What secrets are made of, and how they are compared.
enum Secrets {
    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Names a key or a session in lists and logs: ten characters that are not mistaken for each other. No secret.
    static func randomId() -> String {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return String(random(10).map { alphabet[Int($0) % alphabet.count] })
    }

    static func sha256(_ text: some StringProtocol) -> [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }

    /// Takes the same time wherever the two differ. Lengths are no secret.
    static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
