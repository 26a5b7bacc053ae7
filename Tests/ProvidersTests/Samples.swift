import ProviderSimulator
import Providers
import PushContract
import ServiceKit

/// Values the tests share.
enum Samples {
    static let bundle = "com.example.app"
    static let moment = Timestamp(seconds: 1_790_000_000)
    static let apnsToken = String(repeating: "0a1b2c3d", count: 8)
    static let fcmToken = "cFy3xYtuT1W8fake:APA91bExampleExampleExample"
    /// Made once: the RSA key takes a while.
    static let credentials = Result { try SimulatorCredentials.generate() }

    static func target(_ provider: Provider, token: String? = nil) -> PushTarget {
        PushTarget(
            provider: provider,
            token: token ?? (provider == .apns ? apnsToken : fcmToken),
            environment: .sandbox,
            app: bundle
        )
    }

    static func json(_ text: String) throws -> JSONValue { try JSONParser.read(Array(text.utf8)) }
}
