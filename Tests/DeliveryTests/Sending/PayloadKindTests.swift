import PushContract
import Testing

@testable import Delivery

@Suite("Kinds of devices")
struct PayloadKindTests {
    @Test("devices are counted by kind, in whatever order they come")
    func counts() {
        func delivery(_ app: String, _ environment: PushEnvironment = .production) -> NewDelivery {
            NewDelivery(uid: "u", deviceId: "d", platform: .ios, provider: .apns, environment: environment, app: app)
        }
        let deliveries = [delivery("a"), delivery("b"), delivery("a"), delivery("a", .sandbox), delivery("b"), delivery("a")]
        let counts = PayloadKind.counts(of: deliveries)
        #expect(counts.map(\.kind.app) == ["a", "b", "a"] && counts.map(\.devices) == [3, 2, 1])
        #expect(PayloadKind.counts(of: []).isEmpty)
    }
}
