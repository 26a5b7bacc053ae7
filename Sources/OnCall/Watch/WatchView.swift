import Alerting
import Delivery
import PushContract

/// What on-call keeps an eye on, as its template sees it.
struct WatchView {
    struct RuleLine {
        let name: String
        let text: String
        let detail: String?
        /// For `<meter>`: 0 to 100, where 100 is the threshold.
        let meter: String?
        let isFiring: Bool
    }

    struct CredentialLine {
        let name: String
        let state: String
        let isBad: Bool
        let detail: String?
    }

    /// Providers ask for new keys once a year or so; from this age on the page says so.
    static let oldKeyDays = 365

    let rules: [RuleLine]
    let hasRules: Bool
    let credentials: [CredentialLine]
    let hasCredentials: Bool
    let silences: [String]
    let hasSilences: Bool
    let writers: String
    let isWriterMissing: Bool
    /// Whether the reader may try the credentials.
    let mayCheck: Bool

    init(_ data: WatchData, mayCheck: Bool, now: Timestamp) {
        // The nearest first; those that have no distance last, in their files' order.
        let ordered = data.rules.enumerated().sorted { left, right in
            let (a, b) = (left.element.distance?.fraction ?? -1, right.element.distance?.fraction ?? -1)
            return a == b ? left.offset < right.offset : a > b
        }
        rules = ordered.map { Self.line($0.element) }
        hasRules = !rules.isEmpty
        credentials = Self.credentials(data, now: now)
        hasCredentials = !credentials.isEmpty
        self.mayCheck = mayCheck && !data.credentials.isEmpty
        silences = data.silences.map { Self.words($0, now: now) }
        hasSilences = !silences.isEmpty
        isWriterMissing = data.lastBeat.map { now - $0 > .seconds(180) } ?? true
        writers = Self.writers(data, now: now)
    }

    private static func line(_ rule: WatchData.Rule) -> RuleLine {
        guard let distance = rule.distance else {
            return RuleLine(name: rule.name, text: rule.isFiring ? "firing" : "quiet", detail: nil, meter: nil, isFiring: rule.isFiring)
        }
        return RuleLine(
            name: rule.name,
            text: "\(NumberText.percent(distance.share)) of \(NumberText.percent(distance.threshold))",
            detail: distance.group == "all" ? nil : distance.group,
            meter: "\(Int(min(100, (distance.fraction * 100).rounded())))",
            isFiring: rule.isFiring
        )
    }

    /// What is refused first, then what is configured.
    private static func credentials(_ data: WatchData, now: Timestamp) -> [CredentialLine] {
        let held = data.holds.map { hold in
            CredentialLine(
                name: "\(ProviderName.text(hold.scope.provider)) \(hold.scope.app) \(hold.scope.environment.rawValue)",
                state: "refused: \(hold.cause)",
                isBad: true,
                detail: "sends held since \(ClockText.moment(hold.since, now: now)), \(NumberText.count(hold.refusals)) refusals, next try "
                    + SpanText.ago(hold.nextProbeAt, now: now)
            )
        }
        let broken = data.breakers.map { breaker in
            CredentialLine(
                name: "\(ProviderName.text(breaker.place.provider)) \(breaker.place.app) \(breaker.place.environment.rawValue)",
                state: "too many tokens refused: \(breaker.cause)",
                isBad: true,
                detail: "no token is switched off since \(ClockText.moment(breaker.openedAt, now: now)); "
                    + "\(NumberText.count(breaker.withheld)) wait for a decision (pushwatch sends token-breakers)"
            )
        }
        return held + broken + data.credentials.map(line)
    }

    private static func line(_ credential: CredentialState) -> CredentialLine {
        let isOld = (credential.keyAgeDays ?? 0) >= oldKeyDays
        let age = credential.keyAgeDays.map { "key file \($0) \($0 == 1 ? "day" : "days") old" }
        return CredentialLine(
            name: credential.name,
            state: credential.fault == nil ? (isOld ? "in use; replace its key" : "in use") : "the newest is not in use",
            isBad: credential.fault != nil || isOld,
            detail: [credential.fault, age].compactMap { $0 }.joined(separator: "; ")
        )
    }

    private static func words(_ silence: AlertSilence, now: Timestamp) -> String {
        let when =
            silence.startsAt > now
            ? "from \(ClockText.moment(silence.startsAt, now: now)) to \(ClockText.moment(silence.endsAt, now: now))"
            : "until \(ClockText.moment(silence.endsAt, now: now))"
        return "\(silence.subject) \(when), by \(silence.author): \(silence.reason)"
    }

    private static func writers(_ data: WatchData, now: Timestamp) -> String {
        guard let beat = data.lastBeat else { return "No instance has ever said that it can write attempts." }
        let count = "\(data.writers) \(data.writers == 1 ? "instance" : "instances")"
        return data.writers == 0
            ? "No instance can write attempts; the last one could \(SpanText.ago(beat, now: now))."
            : "\(count) can write attempts; last heard \(SpanText.ago(beat, now: now))."
    }
}
