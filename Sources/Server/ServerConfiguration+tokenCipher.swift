package import Delivery
import PushContract

extension ServerConfiguration {
    /// Encrypts and decrypts push tokens. Without keys it is an error where tokens are stored or sent to: tokens are never stored in plain
    /// text. An instance that only evaluates alerts needs no keys.
    package func tokenCipher() throws(ConfigurationError) -> TokenCipher {
        if let tokenKeys { return TokenCipher(tokenKeys) }
        guard roles == [.alert] else {
            throw ConfigurationError(
                """
                No keys for push tokens are configured; they are stored encrypted only. Make a file with \
                `pushwatch token-keys create > token-keys`, keep it as safe as the database's backups, and set \
                \(ConfigurationKey.tokenKeys.environmentName) to its path, the same on every instance.
                """
            )
        }
        return .withoutKeys
    }
}

extension ServerParts {
    /// Fails at the start if the keys do not match what is stored, so that intact tokens are not taken for damaged ones.
    func admitTokenKeys() async throws {
        // An instance that only alerts reads no token, and its database role none of the keys' names.
        guard let keySet = configuration.tokenKeys, configuration.roles != [.alert] else { return }
        do {
            try await TokenKeyStore(pools.ingest).admit(keySet, now: .now())
        } catch let mismatch as TokenKeyStore.Mismatch {
            throw ConfigurationError("\(ConfigurationKey.tokenKeys.environmentName): \(mismatch).")
        }
    }
}
