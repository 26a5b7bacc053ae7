/// Removes secrets from text that goes to a log, in case code logs one that it should not.
enum Redaction {
    /// Replaces the secret part of API keys, the secrets of devices and webhooks, bearer tokens and JWTs, and passwords in URLs.
    static func redacted(_ text: String) -> String {
        guard ["pw_", "pwd_", "whsec_", "://", "earer ", "eyJ"].contains(where: { text.contains($0) }) else { return text }
        return
            text
            .replacing(/\bpw_([A-Za-z0-9]+)_[A-Za-z0-9_\-]+/) { "pw_\($0.1)_***" }
            .replacing(/\b(pwd|whsec)_[A-Za-z0-9_\-+\/=]+/) { "\($0.1)_***" }
            .replacing(/\beyJ[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]*/, with: "***")
            .replacing(/([Bb]earer) [^\s"]+/) { "\($0.1) ***" }
            .replacing(/:\/\/([^\s:\/@]*):[^\s\/@]+@/) { "://\($0.1):***@" }
    }

    /// Metadata under such a key is never printed.
    static func isSecret(key: String) -> Bool {
        let key = key.lowercased()
        return ["password", "secret", "authorization", "cookie", "privatekey", "apikey"].contains { key.contains($0) }
    }
}
