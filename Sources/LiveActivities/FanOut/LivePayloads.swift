import Crypto
import HTTPServer
import Providers
import PushContract
import ServiceKit

/// The pushes of a subject. Pure: the same subject gives the same bytes for every recipient.
enum LivePayloads {
    /// A state without another moment is out of date so long after its timestamp: two heartbeats.
    static let staleAfter = Duration.seconds(1800)
    static let startLifetime = Duration.seconds(600)
    static let endLifetime = Duration.seconds(4 * 3600)
    static let dismissal = Duration.seconds(900)

    /// One for all followers; its priority and its alert are each device's own.
    static func update(_ subject: LiveSubject, alert: LiveSubject.Alert?) throws(PushError) -> PushMessage {
        var push = broadcast(subject, alert: alert)
        push.expiresAt = push.staleDate
        return try push.message()
    }

    /// The same for a channel, which stores nothing: what is not delivered at once, is not.
    static func broadcast(_ subject: LiveSubject, alert: LiveSubject.Alert?) -> LiveActivityPush {
        var push = LiveActivityPush(
            .update,
            contentState: Array(subject.state.utf8),
            timestamp: Timestamp(seconds: subject.timestamp),
            staleDate: staleDate(subject),
            relevanceScore: subject.relevanceScore,
            priority: .normal
        )
        push.show(alert)
        return push
    }

    /// - Parameters:
    ///   - channel: what the activity listens to instead of bringing a token.
    ///   - alert: instead of the start's own.
    static func start(
        _ subject: LiveSubject,
        instance: Int,
        channel: String? = nil,
        alert: LiveSubject.Alert? = nil,
        now: Timestamp
    ) throws(PushError) -> PushMessage {
        var push = LiveActivityPush(
            .start(
                .init(
                    attributesType: subject.attributesType,
                    attributes: Array(attributes(subject, instance: instance).utf8),
                    input: channel.map { .channel($0) } ?? .token
                )
            ),
            contentState: Array(subject.state.utf8),
            timestamp: Timestamp(seconds: subject.timestamp),
            staleDate: staleDate(subject),
            relevanceScore: subject.relevanceScore,
            collapseId: collapseId(subject.id, instance: instance),
            // Timestamps of many states a second run ahead of the clock.
            expiresAt: max(now, Timestamp(seconds: subject.timestamp)) + startLifetime
        )
        push.show(alert ?? subject.startAlert)
        return try push.message()
    }

    static func end(
        _ subject: LiveSubject,
        timestamp: Int64,
        reason: EndReason,
        alert: LiveSubject.Alert?,
        now: Timestamp
    ) throws(PushError) -> PushMessage {
        var push = end(subject, stamp: Timestamp(seconds: timestamp), reason: reason, endedAt: now)
        push.show(reason.concernsAll ? alert : nil)
        push.expiresAt = now + endLifetime
        return try push.message()
    }

    /// The end of a match, or of its day, for a channel. It is sent several times, for devices that were away: the first one with the
    /// alert, each with the newest state. An activity that has ended takes no correction of it.
    static func broadcastEnd(
        _ subject: LiveSubject,
        timestamp: Int64,
        endedAt: Timestamp,
        alert: LiveSubject.Alert?
    ) -> LiveActivityPush {
        var push = end(subject, stamp: Timestamp(seconds: timestamp), reason: .matchEnd, endedAt: endedAt)
        push.show(alert)
        return push
    }

    private static func end(_ subject: LiveSubject, stamp: Timestamp, reason: EndReason, endedAt: Timestamp) -> LiveActivityPush {
        LiveActivityPush(
            .end(dismissal: dismissal(subject, reason: reason, stamp: stamp, now: endedAt)),
            contentState: Array(subject.state.utf8),
            timestamp: stamp
        )
    }

    /// The start's own members, and which start it is: an app names the instance with its token.
    static func attributes(_ subject: LiveSubject, instance: Int) -> String {
        guard case .object(var members)? = try? JSONParser.parse(Array(subject.attributes.utf8)) else { return subject.attributes }
        if subject.attributesType == MatchSubject.attributesType || members["instance"] != nil {
            members["instance"] = .integer(Int64(instance))
        }
        return JSONValue.object(members).text
    }

    /// Two starts of one instance leave one card.
    static func collapseId(_ subject: String, instance: Int) -> String {
        let digest = SHA256.hash(data: Array("\(subject)\n\(instance)".utf8)).prefix(16)
        return digest.reduce(into: "la-") { text, byte in
            text += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
    }

    /// The caller's moment, or when its source has not confirmed it for too long, whichever is sooner. A heartbeat after it shows a state
    /// that is out of date.
    static func staleDate(_ subject: LiveSubject) -> Timestamp {
        let timestamp = Timestamp(seconds: subject.timestamp)
        guard let staleAt = [subject.staleAt, subject.freshness?.staleAt].compactMap({ $0 }).min() else { return timestamp + staleAfter }
        return max(staleAt, timestamp + .seconds(1))
    }

    static func dismissal(_ subject: LiveSubject, reason: EndReason, stamp: Timestamp, now: Timestamp) -> Timestamp {
        // In the past: at once.
        guard reason.concernsAll else { return Timestamp(seconds: stamp.seconds - 1) }
        let latest = stamp + .seconds(4 * 3600)
        return min(latest, subject.dismissAt ?? now + dismissal)
    }
}

extension LiveActivityPush {
    mutating func show(_ alert: LiveSubject.Alert?) {
        self.alert = alert.map { LiveActivityAlert(title: $0.title, body: $0.body, sound: $0.sound) }
        interruptionLevel = alert?.interruptionLevel?.rawValue
    }
}
