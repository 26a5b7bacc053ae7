import Foundation
import PushContract

@testable import Attempts

/// Attempts for tests: valid unless a test says otherwise.
enum Sample {
    static let now = Timestamp(rfc3339: "2026-03-10T12:00:00Z")!

    static func attempt(
        _ id: String = "a-1",
        uid: String = "u-1",
        status: AttemptStatus = .sent,
        reason: ReasonCode? = nil,
        at: Timestamp = now,
        requestId: String = "r-1"
    ) -> Attempt {
        Attempt(
            attemptId: id,
            uid: uid,
            platform: .ios,
            provider: .apns,
            tokenHash: TokenHash(rawValue: "sha256:" + String(repeating: "0a", count: 32))!,
            eventType: .send,
            status: status,
            reasonCode: reason ?? (status.carriesReason ? .provider5xx : nil),
            attemptedAt: at,
            requestId: requestId,
            app: "com.example.app",
            latencyMs: 12
        )
    }

    /// The attempt as the API's JSON, with changes: a nil value removes the key.
    static func json(_ changes: [String: Any?] = [:], id: String = "a-1", at: Timestamp = now) -> [String: Any] {
        var object: [String: Any] = [
            "attemptId": id, "uid": "u-1", "platform": "ios", "provider": "apns",
            "tokenHash": "sha256:" + String(repeating: "0a", count: 32), "eventType": "send", "status": "sent",
            "attemptedAt": at.rfc3339, "requestId": "r-1",
        ]
        for (key, value) in changes { object[key] = value }
        for (key, value) in changes where value == nil { object.removeValue(forKey: key) }
        return object
    }

    static func bytes(_ value: Any) throws -> [UInt8] {
        Array(try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed))
    }

    static func batch(_ attempts: [Attempt]) throws -> AttemptBatch {
        var batch = AttemptBatch()
        for attempt in attempts { try batch.append(attempt) }
        return batch
    }
}

extension AttemptParser {
    func document(_ text: [UInt8], now: Timestamp = Sample.now, limit: Int = 5000) throws -> Parsed {
        var padded = text
        padded.append(contentsOf: repeatElement(0, count: AttemptParser.padding))
        return try padded.withUnsafeBytes {
            try parseDocument($0, length: text.count, window: .live(now: now), itemLimit: limit)
        }
    }

    func lines(_ text: [UInt8], now: Timestamp = Sample.now, limit: Int = 5000) throws -> Parsed {
        var padded = text
        padded.append(contentsOf: repeatElement(0, count: AttemptParser.padding))
        return try padded.withUnsafeBytes { try parseLines($0, length: text.count, window: .live(now: now), itemLimit: limit) }
    }
}
