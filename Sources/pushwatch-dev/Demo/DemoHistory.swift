import CommandLineKit
import Crypto
import Foundation
import PushContract
import ServiceKit

/// Eight days of plausible attempts for a first look, ending in an incident: FCM answers with 5xx since 20 minutes ago.
///
/// Every uid begins with `demo-`. Deterministic for a given `now`, so that loading it twice adds nothing.
struct DemoHistory {
    let now: Timestamp

    static let days: Int64 = 8
    static let incidentMinutes: Int64 = 20
    static let people = 400

    /// Writes the history as NDJSON, a line an attempt, oldest first. Returns how many.
    func write(to path: String, onProgress: (Int) -> Void = { _ in }) throws -> Int {
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path) else {
            throw CommandFailure.environment("\(path) cannot be written.")
        }
        defer { try? file.close() }
        let people = (0..<DemoHistory.people).map(DemoPerson.init)
        var random = SplitMix64(seed: 2026)
        var text: [UInt8] = []
        var count = 0
        for minute in (now.minute - DemoHistory.days * 1440)..<now.minute {
            for index in 0..<attempts(in: minute, &random) {
                let person = people[random.below(people.count)]
                append(person, minute: minute, index: index, &random, to: &text)
                count += 1
            }
            if text.count > 1 << 20 {
                try file.write(contentsOf: text)
                text.removeAll(keepingCapacity: true)
                onProgress(count)
            }
        }
        try file.write(contentsOf: text)
        return count
    }

    /// More in the evening than at night, with some chance.
    private func attempts(in minute: Int64, _ random: inout SplitMix64) -> Int {
        let hour = Double(minute % 1440) / 60
        let daily = 23 + 7 * sin((hour - 10) / 24 * 2 * .pi)
        return max(1, Int(daily) + random.below(7) - 3)
    }

    private func append(_ person: DemoPerson, minute: Int64, index: Int, _ random: inout SplitMix64, to text: inout [UInt8]) {
        let isIncident = person.provider == .fcm && minute >= now.minute - DemoHistory.incidentMinutes
        let outcome = DemoOutcome.draw(provider: person.provider, isIncident: isIncident, &random)
        let at = Timestamp(microseconds: minute * 60_000_000 + Int64(random.below(60_000_000)))
        let latency = outcome.status == .sent ? 25 + random.below(90) : 40 + random.below(900)
        var line = #"{"attemptId":"demo-\#(minute)-\#(index)","uid":"\#(person.uid)","platform":"\#(person.platform)","#
        line += #""provider":"\#(person.provider)","tokenHash":"\#(person.tokenHash)","eventType":"send","status":"\#(outcome.status)","#
        if let reason = outcome.reason { line += #""reasonCode":"\#(reason.rawValue)","providerErrorCode":"\#(outcome.code)","# }
        line += #""attemptedAt":"\#(at)","requestId":"demo-\#(minute)","app":"\#(person.app)","appVersion":"\#(person.appVersion)","#
        line += #""environment":"production","pushType":"alert","latencyMs":\#(latency)}"#
        text.append(contentsOf: line.utf8)
        text.append(0x0A)
    }
}

/// A synthetic user with one device.
struct DemoPerson: Sendable {
    let uid: String
    let platform: Platform
    let provider: Provider
    /// A token of the provider's shape that belongs to no device.
    let token: String
    let tokenHash: TokenHash
    let app = "com.example.scores"
    let appVersion: String
    let osVersion: String

    init(_ number: Int) {
        uid = "demo-user-\(number)"
        platform = number % 20 < 11 ? .ios : .android
        provider = platform == .ios ? .apns : .fcm
        let digest = SHA256.hash(data: Array("pushwatch demo device \(number)".utf8)).hexDigits
        token = provider == .apns ? digest : "demo\(number):APA91b" + digest
        // The token has the provider's shape, so hashing it cannot fail.
        tokenHash = (try? TokenHash.of(token, provider: provider)) ?? TokenHash(rawValue: "sha256:" + digest)!
        appVersion = ["3.2.0", "3.2.0", "3.1.4", "3.0.9"][number % 4]
        osVersion = platform == .ios ? "18.\(number % 4)" : "15"
    }
}

/// What becomes of a demo attempt.
struct DemoOutcome {
    let status: AttemptStatus
    let reason: ReasonCode?
    let code: String

    static func draw(provider: Provider, isIncident: Bool, _ random: inout SplitMix64) -> DemoOutcome {
        let isAPNs = provider == .apns
        let roll = random.below(10_000)
        if isIncident, roll < 3_500 { return DemoOutcome(status: .failed, reason: .provider5xx, code: "UNAVAILABLE") }
        switch roll {
        case ..<60:
            return DemoOutcome(status: .deactivated, reason: .tokenNotRegistered, code: isAPNs ? "Unregistered" : "UNREGISTERED")
        case ..<90: return DemoOutcome(status: .failed, reason: .network, code: "timeout")
        case ..<115: return DemoOutcome(status: .failed, reason: .provider5xx, code: isAPNs ? "ServiceUnavailable" : "INTERNAL")
        case ..<125: return DemoOutcome(status: .failed, reason: .unknown, code: isAPNs ? "TooManyRequests" : "QUOTA_EXCEEDED")
        case ..<130: return DemoOutcome(status: .failed, reason: .tokenInvalid, code: isAPNs ? "BadDeviceToken" : "INVALID_ARGUMENT")
        case ..<132: return DemoOutcome(status: .failed, reason: .auth, code: isAPNs ? "ExpiredProviderToken" : "THIRD_PARTY_AUTH_ERROR")
        default: return DemoOutcome(status: .sent, reason: nil, code: "")
        }
    }
}
