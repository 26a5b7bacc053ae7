import Testing

@testable import PushContract

@Suite("Providers")
struct ProviderTests {
    @Test(
        "every provider has an ordinal of its own below 8, is spelled as its raw value, and serves a platform",
        arguments: Provider.allCases
    )
    func members(provider: Provider) {
        let ordinals = Provider.allCases.map(\.ordinal)
        #expect(ordinals.filter { $0 == provider.ordinal }.count == 1)
        #expect(provider.ordinal < 8)
        #expect("\(provider.spelling)" == provider.rawValue)
        #expect(!provider.displayName.isEmpty)
        #expect(Platform.allCases.contains(where: provider.serves))
    }

    @Test("the cause for which a token became inactive means what the provider's code means")
    func causes() {
        #expect(ReasonMapping.tokenCause("BadDeviceToken", provider: .apns).reasonCode == .tokenInvalid)
        #expect(ReasonMapping.tokenCause("Unregistered", provider: .apns).reasonCode == .tokenNotRegistered)
        #expect(ReasonMapping.tokenCause("INVALID_ARGUMENT", provider: .fcm).reasonCode == .tokenInvalid)
        #expect(ReasonMapping.tokenCause("UNREGISTERED", provider: .fcm).reasonCode == .tokenNotRegistered)
        #expect(ReasonMapping.tokenCause("UNREGISTERED", provider: .apns).reasonCode == .unknown)
    }
}
