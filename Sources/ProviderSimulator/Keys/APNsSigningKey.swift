import Crypto

/// The ES256 key a sender signs its provider tokens with, as Apple's developer site hands it out (`AuthKey_<keyId>.p8`).
package struct APNsSigningKey: Sendable, Hashable, Codable {
    /// Ten characters, goes into the token's `kid`.
    package let keyId: String
    /// Ten characters, goes into the token's `iss`.
    package let teamId: String
    /// PKCS #8 PEM, the content of the .p8 file.
    package let privateKeyPEM: String

    package init(keyId: String, teamId: String, privateKeyPEM: String) {
        self.keyId = keyId
        self.teamId = teamId
        self.privateKeyPEM = privateKeyPEM
    }

    package static func generate(keyId: String = "PWSIMKEY01", teamId: String = "PWSIMTEAM1") -> APNsSigningKey {
        APNsSigningKey(keyId: keyId, teamId: teamId, privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation)
    }

    /// What the simulator needs to know to check tokens signed with this key.
    /// - Throws: when the PEM is not a P-256 key.
    func trusted(bundles: Set<String>?) throws -> APNsTrustedKey {
        let key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM).publicKey
        return APNsTrustedKey(keyId: keyId, teamId: teamId, publicKey: key, bundles: bundles)
    }
}

/// A key that is registered with the simulated Apple, with what it may push to.
struct APNsTrustedKey: Sendable {
    let keyId: String
    let teamId: String
    let publicKey: P256.Signing.PublicKey
    /// The bundle identifiers the team owns; nil: any.
    let bundles: Set<String>?
}
