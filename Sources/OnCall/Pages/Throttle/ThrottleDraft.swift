import Delivery
import Foundation
import HTTPServer
import PushContract

/// A throttle that a person is about to set from the page.
struct ThrottleDraft: Hashable {
    static let rates = [0, 60, 600, 6_000]
    static let choices = [30, 60, 240]

    var providers: [Provider]
    /// Nil = every app.
    var app: String?
    var perMinute: Int
    var minutes: Int
    var reason: String

    init(_ form: [String: String]) throws(Problem) {
        switch form["provider"] {
        case "both": providers = Provider.allCases
        case let name?:
            guard let provider = Provider(rawValue: name) else { throw .invalid("Choose a provider.", pointer: "/provider") }
            providers = [provider]
        case nil: throw .invalid("Choose a provider.", pointer: "/provider")
        }
        app = form["app"].flatMap { $0.isEmpty ? nil : $0 }
        guard (app ?? "").unicodeScalars.count <= 200 else {
            throw .invalid("The name of an app has at most 200 characters.", pointer: "/app")
        }
        guard let rate = form["perMinute"].flatMap({ Int($0) }), (0...1_000_000).contains(rate) else {
            throw .invalid("Sends a minute must be a whole number from 0 to 1,000,000.", pointer: "/perMinute")
        }
        guard let minutes = form["minutes"].flatMap({ Int($0) }), Self.choices.contains(minutes) else {
            throw .invalid("Choose for how long.", pointer: "/minutes")
        }
        let reason = (form["reason"] ?? "")[...].trimmed
        guard !reason.isEmpty, reason.count <= 500 else {
            throw .invalid("Say why, in 1 to 500 characters: the next person on call will read it.", pointer: "/reason")
        }
        (perMinute, self.minutes, self.reason) = (rate, minutes, String(reason))
    }

    func throttles(author: String, now: Timestamp) -> [SendThrottle] {
        providers.map { provider in
            SendThrottle(
                provider: provider,
                app: app,
                perMinute: Double(perMinute),
                reason: reason,
                author: author,
                createdAt: now,
                expiresAt: now + .seconds(Int64(minutes) * 60)
            )
        }
    }
}
