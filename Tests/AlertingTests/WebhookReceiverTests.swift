import AlertRules
import Crypto
import Foundation
import HTTPClient
import PushContract
import Testing

@testable import Alerting

@Suite("The webhook's body and headers")
struct WebhookReceiverTests {
    static let alert = UUID(uuidString: "0198A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B")!

    static func message(_ kind: AlertNotification.Kind) -> AlertNotification {
        let window = WindowCounts(first: Traffic.start, minutes: 15, counts: AttemptCounts(attempts: 1500, bad: 90))
        return AlertNotification(
            alertId: alert,
            seq: kind == .firing ? 1 : 2,
            kind: kind,
            receiver: "on-call",
            rule: "ProviderUnavailable",
            ruleVersion: "0123456789ab",
            severity: .page,
            labels: ["alertname": "ProviderUnavailable", "severity": "page", "provider": "fcm"],
            group: ["provider": "fcm"],
            annotations: ["summary": "fcm: 6 % of sends fail", "runbook": "runbooks/provider-5xx.md"],
            startsAt: Traffic.start.timestamp,
            firedAt: (Traffic.start + 15).timestamp,
            endsAt: kind == .firing ? nil : (Traffic.start + 30).timestamp,
            resolvedReason: kind == .firing ? nil : "recovered",
            detectedLateBySeconds: 0,
            evidence: Evidence(
                definition: "ratio/1",
                level: .threshold,
                threshold: Fraction(5, 100),
                observed: window,
                worst: window
            ),
            contributors: [
                Contributor(dimension: "platform", value: "android", attempts: 900, bad: 85, excess: 76, excessShare: 0.95)
            ],
            backlog: BacklogNumbers(waiting: 1200, oldestSeconds: 90, drainSeconds: 600),
            reproduceSQL: "SELECT 1;",
            revised: false,
            supersedesFiring: false,
            createdAt: (Traffic.start + 16).timestamp,
            externalURL: "https://push.example.org"
        )
    }

    private func request(_ kind: AlertNotification.Kind, secret: WebhookSecret? = nil) throws -> OutboundRequest {
        let receiver = WebhookReceiver(name: "on-call", url: "https://hooks.example.org/x", secret: secret)
        guard case .request(let request) = try receiver.action(for: Self.message(kind), now: Timestamp(seconds: 1_767_614_400)) else {
            throw CancellationError()
        }
        return request
    }

    private func header(_ name: String, _ request: OutboundRequest) -> String? { request.headers.first { $0.name == name }?.value }

    @Test("the body is Alertmanager's, byte for byte as in the golden file", arguments: [AlertNotification.Kind.firing, .resolved])
    func golden(_ kind: AlertNotification.Kind) throws {
        let object = try JSONSerialization.jsonObject(with: Data(try request(kind).body))
        let pretty = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appendingPathComponent("Golden/webhook-\(kind).json")
        let text = String(decoding: pretty, as: UTF8.self) + "\n"
        if ProcessInfo.processInfo.environment["PUSHWATCH_REWRITE_GOLDEN"] != nil {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }

    @Test("a firing alert ends in the year 1, as Go writes it")
    func noEnd() throws {
        let json = try #require(JSONSerialization.jsonObject(with: Data(try request(.firing).body)) as? [String: Any])
        let alert = try #require((json["alerts"] as? [[String: Any]])?.first)
        #expect(alert["endsAt"] as? String == "0001-01-01T00:00:00Z")
        #expect(json["version"] as? String == "4")
        #expect(json["groupKey"] as? String == #"{}:{alertname="ProviderUnavailable", provider="fcm"}"#)
    }

    @Test("the signature is the one Standard Webhooks describes, with and without the prefix of the secret", arguments: [true, false])
    func signature(hasPrefix: Bool) throws {
        let key = Data((0..<24).map { UInt8($0) })
        let text = (hasPrefix ? "whsec_" : "") + key.base64EncodedString()
        let request = try request(.firing, secret: WebhookSecret(text))
        let id = try #require(header("webhook-id", request))
        #expect(id == "0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b-1")
        #expect(header("webhook-timestamp", request) == "1767614400")
        let signed = Data("\(id).1767614400.".utf8) + Data(request.body)
        let code = Data(HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: key))).base64EncodedString()
        #expect(header("webhook-signature", request) == "v1,\(code)")
        #expect(try header("webhook-signature", self.request(.firing)) == nil)
    }

    @Test("fingerprints are those Prometheus computes")
    func fingerprint() {
        #expect(LabelFingerprint.hex([:]) == String(UInt64(14_695_981_039_346_656_037), radix: 16))
        let labels = ["name": "garland, briggs", "fear": "love is not enough"]
        #expect(LabelFingerprint.hex(labels) == String(UInt64(5_799_056_148_416_392_346), radix: 16))
    }
}
