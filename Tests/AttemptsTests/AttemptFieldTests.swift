import PushContract
import Testing

@testable import Attempts

/// The fields of an attempt as the contract names them, one at a time: what is accepted, and that without it nothing is.
@Suite("Fields of an attempt")
struct AttemptFieldTests {
    typealias Changes = [String: (any Sendable)?]

    /// The attempt with these changes.
    private func read(_ changes: Changes) throws -> AttemptParser.Parsed {
        try AttemptParser().document(try Sample.bytes(Sample.json(changes)))
    }

    /// The one fault that the changes make.
    private func fault(_ changes: Changes) throws -> String {
        try read(changes).rejections.map { "\($0.fault.code) \($0.fault.field)" }.joined(separator: ", ")
    }

    @Test("T-15: attemptId is a string, required")
    func attemptId() throws {
        #expect(try read(["attemptId": "op-1:send"]).batch[0].attemptId == "op-1:send")
        #expect(try fault(["attemptId": nil]) == "missing_field attemptId")
        #expect(try fault(["attemptId": 7]) == "invalid_type attemptId")
    }

    @Test("T-16: uid is a string, required")
    func uid() throws {
        #expect(try read(["uid": "ann"]).batch[0].uid == "ann")
        #expect(try fault(["uid": nil]) == "missing_field uid")
        #expect(try fault(["uid": 7]) == "invalid_type uid")
    }

    @Test("T-17: platform is ios, android or web, and nothing else")
    func platform() throws {
        for (platform, provider) in [("ios", "apns"), ("android", "fcm"), ("web", "fcm")] {
            #expect(try read(["platform": platform, "provider": provider]).batch[0].platform.rawValue == platform)
        }
        #expect(try fault(["platform": nil]) == "missing_field platform")
        #expect(try fault(["platform": "iOS"]) == "invalid_value platform")
        #expect(try fault(["platform": "macos"]) == "invalid_value platform")
    }

    @Test("T-18: provider is apns or fcm, and nothing else")
    func provider() throws {
        for provider in ["apns", "fcm"] { #expect(try read(["provider": provider]).batch[0].provider.rawValue == provider) }
        #expect(try fault(["provider": nil]) == "missing_field provider")
        #expect(try fault(["provider": "relay"]) == "invalid_value provider")
    }

    @Test("T-19: tokenHash is the SHA-256 of a token, required; a raw token is refused as one")
    func tokenHash() throws {
        let hash = try TokenHash.apns(String(repeating: "ab", count: 32)).rawValue
        #expect(try read(["tokenHash": hash]).batch[0].tokenHash.rawValue == hash)
        #expect(try fault(["tokenHash": nil]) == "missing_field tokenHash")
        #expect(try fault(["tokenHash": String(repeating: "ab", count: 32)]) == "raw_token tokenHash")
        #expect(try fault(["tokenHash": "fXq1:APA91bH-example"]) == "raw_token tokenHash")
    }

    @Test("T-20: eventType is register, unregister or send, and nothing else")
    func eventType() throws {
        for event in ["register", "unregister", "send"] { #expect(try read(["eventType": event]).batch[0].eventType.rawValue == event) }
        #expect(try fault(["eventType": nil]) == "missing_field eventType")
        #expect(try fault(["eventType": "push"]) == "invalid_value eventType")
    }

    @Test("T-21: status is queued, sent, failed or deactivated, and nothing else")
    func status() throws {
        for (status, reason) in [("queued", nil), ("sent", nil), ("failed", "network"), ("deactivated", "token_not_registered")]
            as [(String, String?)]
        {
            #expect(try read(["status": status, "reasonCode": reason]).batch[0].status.rawValue == status)
        }
        #expect(try fault(["status": nil]) == "missing_field status")
        #expect(try fault(["status": "skipped"]) == "invalid_value status")
    }

    @Test("T-22: reasonCode is one of the six buckets; a failure has one, and nothing else does")
    func reasonCode() throws {
        for reason in ["token_invalid", "token_not_registered", "provider_5xx", "network", "auth", "unknown"] {
            #expect(try read(["status": "failed", "reasonCode": reason]).batch[0].reasonCode?.rawValue == reason)
        }
        #expect(try fault(["status": "failed", "reasonCode": "provider_4xx"]) == "invalid_value reasonCode")
        #expect(try fault(["status": "failed"]) == "missing_field reasonCode")
        #expect(try fault(["status": "sent", "reasonCode": "auth"]) == "invalid_combination reasonCode")
    }

    @Test("T-23: providerErrorCode is the provider's own code, stored as it was where there is one")
    func providerErrorCode() throws {
        let changes: Changes = ["status": "failed", "reasonCode": "unknown", "providerErrorCode": "Some-New.Code"]
        #expect(try read(changes).batch[0].providerErrorCode == "Some-New.Code")
        #expect(try read(["providerErrorCode": nil]).batch[0].providerErrorCode == nil)
    }

    @Test("T-24: attemptedAt is a timestamp, required")
    func attemptedAt() throws {
        #expect(try read(["attemptedAt": "2026-03-10T13:00:00+01:00"]).batch[0].attemptedAt == Sample.now)
        #expect(try fault(["attemptedAt": nil]) == "missing_field attemptedAt")
        #expect(try fault(["attemptedAt": 1_773_144_000]) == "invalid_type attemptedAt")
    }

    @Test("T-25: requestId is a string, required")
    func requestId() throws {
        #expect(try read(["requestId": "r-7"]).batch[0].requestId == "r-7")
        #expect(try fault(["requestId": nil]) == "missing_field requestId")
        #expect(try fault(["requestId": 7]) == "invalid_type requestId")
    }
}
