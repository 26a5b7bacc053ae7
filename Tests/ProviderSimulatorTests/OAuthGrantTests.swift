import PushContract
import ServiceKit
import Testing

@testable import ProviderSimulator

@Suite("Checks on token requests")
struct OAuthGrantTests {
    @Test(
        "each rule has its error",
        arguments: [
            (nil, [:], [:]),
            (nil, [:], ["scope": "https://www.googleapis.com/auth/cloud-platform"]),
            ("invalid_grant", ["alg": "ES256"], [:]),
            ("invalid_grant", ["kid": "other"], [:]),
            ("invalid_grant", [:], ["iss": "stranger@example.com"]),
            ("invalid_grant", [:], ["aud": "https://oauth2.googleapis.com/token"]),
            ("invalid_grant", [:], ["exp": .integer(Int64(noon.seconds + 3601))]),
            ("invalid_grant", [:], ["exp": .integer(Int64(noon.seconds))]),
            ("invalid_grant", [:], ["iat": .null]),
            ("invalid_grant", [:], ["iat": .integer(Int64(noon.seconds + 61)), "exp": .integer(Int64(noon.seconds + 3600))]),
            ("invalid_scope", [:], ["scope": "https://www.googleapis.com/auth/drive"]),
            ("invalid_scope", [:], ["scope": ""]),
        ] as [(String?, JSONMembers, JSONMembers)]
    )
    func rule(error: String?, header: JSONMembers, claims: JSONMembers) throws {
        let assertion = try assertion(header: header, claims: claims).rs256(try credentials().google.privateKeyPEM)
        #expect(try refusal(of: body(assertion)) == error)
    }

    @Test(
        "the form is checked",
        arguments: [
            ("", "unsupported_grant_type"),
            ("grant_type=client_credentials", "unsupported_grant_type"),
            ("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer", "invalid_request"),
            ("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=abc", "invalid_grant"),
        ]
    )
    func form(body: String, error: String) throws {
        #expect(try refusal(of: body) == error)
    }

    @Test("an assertion signed by another account's key is refused")
    func foreignSignature() throws {
        let foreign = try Keys.other.get().google.privateKeyPEM
        #expect(try refusal(of: body(try assertion().rs256(foreign))) == "invalid_grant")
    }

    @Test("an access token ends with its time")
    func expiry() throws {
        var tokens = AccessTokens()
        let account = try credentials().google.trusted()
        tokens.add("a", for: account, expires: noon.advanced(by: .seconds(10)), now: noon)
        #expect(tokens.holder(of: "a", now: noon.advanced(by: .seconds(9)))?.projectId == account.projectId)
        #expect(tokens.holder(of: "a", now: noon.advanced(by: .seconds(10))) == nil)
        #expect(tokens.holder(of: "b", now: noon) == nil)
    }

    private func assertion(header: JSONMembers = [:], claims: JSONMembers = [:]) throws -> TokenWriter {
        let account = try credentials().google
        let usual: JSONMembers = [
            "iss": .string(account.clientEmail), "scope": "https://www.googleapis.com/auth/firebase.messaging",
            "aud": "https://127.0.0.1:4443/token", "iat": .integer(Int64(noon.seconds)), "exp": .integer(Int64(noon.seconds + 3600)),
        ]
        return TokenWriter(
            header: .object((["alg": "RS256", "kid": .string(account.privateKeyId)] as JSONMembers).merging(header) { $1 }),
            claims: .object(usual.merging(claims) { $1 })
        )
    }

    private func body(_ assertion: String) -> String {
        "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=\(assertion)"
    }

    private func refusal(of body: String) throws -> String? {
        let grant = OAuthGrant(accounts: [try credentials().google.trusted()], audiences: ["https://127.0.0.1:4443/token"])
        let request = SimulatedRequest(
            path: "/token",
            headers: [.init("content-type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8)
        )
        do throws(OAuthRefusal) {
            _ = try grant.check(request, now: noon)
            return nil
        } catch {
            return error.error
        }
    }
}
