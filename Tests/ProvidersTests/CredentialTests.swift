import Crypto
import HTTPClient
import Logging
import ProviderSimulator
import Testing

@testable import Providers

@Suite struct CredentialTests {
    private func apnsFault(team: String = "TEAM123456", key: String = "KEY1234567", pem: String) -> String? {
        do throws(CredentialError) {
            _ = try APNsSigningKey(teamId: team, keyId: key, pem: pem)
            return nil
        } catch {
            return error.message
        }
    }

    private func fcmFault(_ file: String) -> String? {
        do throws(CredentialError) {
            _ = try FCMServiceAccount(file: file)
            return nil
        } catch {
            return error.message
        }
    }

    @Test(
        "the error of a wrong .p8 file states what it contains instead",
        arguments: [
            ("", "it is empty"), ("hello", "it has no line"),
            ("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----", "a certificate"),
            ("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----", "is not a P-256 key"),
            (P384.Signing.PrivateKey().pemRepresentation, "is not a P-256 key"),
        ]
    )
    func wrongKey(pem: String, words: String) throws {
        let fault = try #require(apnsFault(pem: pem))
        #expect(fault.contains("is not an EC private key in PEM form"))
        #expect(fault.contains(words))
        #expect(fault.contains("AuthKey_KEY1234567.p8"))
    }

    @Test("team and key id have ten capital letters and digits")
    func ids() {
        let pem = P256.Signing.PrivateKey().pemRepresentation
        #expect(apnsFault(pem: pem) == nil)
        #expect(apnsFault(team: "team", pem: pem)?.contains("team id \"team\"") == true)
        #expect(apnsFault(key: "key1234567", pem: pem)?.contains("key id \"key1234567\"") == true)
    }

    @Test(
        "the error of a wrong service account file states what it contains instead",
        arguments: [
            ("", "not a JSON object"), ("[]", "not a JSON object"), (#"{"type":"authorized_user"}"#, #""type": "authorized_user""#),
            (#"{"type":"service_account"}"#, #"no "project_id""#),
            (#"{"project_id":"p","client_email":"e","token_uri":"http://x","private_key":"k"}"#, "https://"),
            (#"{"project_id":"p/q","client_email":"e","token_uri":"https://x","private_key":"k"}"#, "not a project id"),
            (#"{"project_id":"p","client_email":"e","token_uri":"https://x","private_key":"k"}"#, "not an RSA private key"),
        ]
    )
    func wrongAccount(file: String, words: String) throws {
        #expect(try #require(fcmFault(file)).contains(words))
    }

    @Test("a key file as Google's console makes it is taken")
    func account() throws {
        let google = try Samples.credentials.get().google
        #expect(fcmFault(google.keyFile(tokenURL: "https://oauth2.googleapis.com/token")) == nil)
    }
}
