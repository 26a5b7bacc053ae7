import Crypto
import PushContract

/// The names and tokens of a simulated phone: what they are follows from its name, how often the app was installed, and how often the
/// system has handed out new tokens. Pure.
struct PhoneIdentity: Sendable, Hashable {
    let name: String
    /// Counts installations of the app.
    var installation = 0
    /// Counts changes of all tokens.
    var tokenGeneration = 0
    /// Counts changes of the push token alone.
    var pushTokenChanges = 0

    init(name: String) { self.name = name }

    var deviceId: String { identifier("device", installation) }
    var pushToken: String { hex(pushTokenChanges == 0 ? "push" : "push-\(pushTokenChanges)", 32) }
    /// Longer than push tokens, as Apple's are.
    var startToken: String { hex("start", 80) }

    func updateToken(_ boot: String, _ serial: Int) -> String { hex("update-\(boot)\(serial)", 64) }

    /// Formed as a UUID.
    func identifier(_ kind: String, _ number: Int) -> String {
        let digits = Array(SHA256.hash(data: Array("\(name)/\(kind)/\(number)".utf8)).hexDigits.uppercased())
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return parts.joined(separator: "-")
    }

    private func hex(_ kind: String, _ bytes: Int) -> String {
        var text = ""
        var round = 0
        while text.count < bytes * 2 {
            text += SHA256.hash(data: Array("\(name)/\(kind)/\(installation)/\(tokenGeneration)/\(round)".utf8)).hexDigits
            round += 1
        }
        return String(text.prefix(bytes * 2))
    }
}
